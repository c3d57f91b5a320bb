"""Markdown of each page of the site, and ``llms.txt``, which lists them for programs that read."""

from __future__ import annotations

import contextlib
import inspect
import json
import pydoc
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .docstring_parts import completed

ABOUT = (
    "All of cuDNN 9's C API from Python: a generated ctypes layer, classes on it, and the graph "
    "API. Each page of this site is there as Markdown, too, with `.md` in place of `.html`."
)
FOLDERS = {
    "": "Guide",
    "reference": "Lists",
    "reference/c": "C functions",
    "reference/api": "Classes and functions",
    "reference/graph": "Graph operations",
    "reference/notebooks": "Course",
    "reference/examples": "Examples",
    "reference/numpy": "What each operation computes",
    "reference/frontend": "Names of NVIDIA's front end",
    "reference/tools": "Maintainers' tools",
}


def write_markdown(app: Any, error: Exception | None) -> None:
    """For the event ``build-finished``: write the files into the site."""
    if error or app.builder.format != "html":
        return
    listed: dict[str, list[str]] = {folder: [] for folder in FOLDERS}
    for page in sorted(app.env.found_docs):
        text = markdown(Path(app.env.doc2path(page)))
        file = Path(app.outdir, f"{page}.md")
        file.write_text(text, encoding="utf-8")
        folder = page.rpartition("/")[0]
        listed["reference" if page.endswith("/index") else folder].append(_line(page, text))
    parts = [f"## {FOLDERS[folder]}\n\n" + "\n".join(lines) for folder, lines in listed.items()]
    text = "\n\n".join(["# cudnn_ctypes", f"> {ABOUT}", *parts])
    Path(app.outdir, "llms.txt").write_text(text + "\n", encoding="utf-8")


def _line(page: str, text: str) -> str:
    """A page's line of the list: its title, and its first sentence if that is prose."""
    title, _, rest = text.partition("\n")
    paragraph = " ".join(rest.strip().partition("\n\n")[0].split())
    first = re.match(r"[A-Z].*?\.(?=\s|$)", paragraph) if "/" not in page else None
    says = f": {first[0]}" if first else ""
    return f"- [{title.removeprefix('# ')}]({page}.md){says}"


def markdown(source: Path) -> str:
    """A page as Markdown without directives of the site."""
    text = source.read_text("utf-8")
    text = re.sub(r"\{download\}`([^`<]+) <[^`]*>`", r"\1", text)
    if source.suffix == ".ipynb":
        return "\n\n".join(_cells(json.loads(text)["cells"])) + "\n"
    if source.suffix == ".rst":
        return "\n\n".join(_documented(text)) + "\n"
    text = re.sub(
        r"```\{include\} (\S+)\n(?::end-before: \"(.*)\"\n)?(?::.*\n)*```",
        lambda found: _included(source.parent / found[1], found[2]),
        text,
    )
    text = re.sub(r"```\{(toctree|eval-rst)\}\n.*?```\n*", "", text, flags=re.DOTALL)
    return re.sub(r"\.(rst|ipynb)\)", ".md)", text).strip() + "\n"


def _included(file: Path, end: str | None) -> str:
    text = file.read_text("utf-8")
    return text.partition(end)[0].strip() if end else text.strip()


def _cells(cells: list[dict[str, Any]]) -> Iterator[str]:
    for cell in cells:
        text = "".join(cell["source"])
        yield text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
        for output in cell.get("outputs", ()):
            shown = output.get("text") or output.get("data", {}).get("text/plain", "")
            if shown:
                yield f"```text\n{''.join(shown).strip()}\n```"


def _documented(text: str) -> Iterator[str]:
    """What docstrings say of the objects that a page in reStructuredText shows."""
    yield "# " + (re.search(r"^(.+)\n=+$", text, re.MULTILINE) or ["", ""])[1]
    for kind, name in re.findall(r"^\.\. auto(\w+):: (\S+)", text, re.MULTILINE):
        item = pydoc.locate(name)
        yield from _item(name.rpartition(".")[2], item, kind != "module")
        if kind == "class":
            for member, value in inspect.getmembers(item):
                if not member.startswith("_") and inspect.getdoc(value):
                    yield from _item(member, value, True, item)


def _item(name: str, item: Any, titled: bool, owner: Any = None) -> Iterator[str]:
    lines, signature = (inspect.getdoc(item) or "").splitlines(), ""
    with contextlib.suppress(TypeError, ValueError):  # a property, an exception: no signature
        signature = "" if isinstance(item, type) else str(inspect.signature(item))
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)
        lines = completed(item, owner)
    if titled:
        yield f"{'###' if owner else '##'} {name}{signature}"
    yield "\n".join(lines).replace("``", "`").strip()
