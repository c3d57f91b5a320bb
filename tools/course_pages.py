"""Pages of the site for the course: each example and each notebook, their lists, the glossary."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from cudnn_ctypes.commands.examples import Example, examples, folder
from cudnn_ctypes.commands.lookup.entries import glossary

from .example_outputs import stored
from .page_parts import CONTENTS, code, grid, prose, write

__all__ = ["write_course"]


def write_course() -> None:
    """Write all of them."""
    programs = [each for each in examples() if each.path.suffix == ".py"]
    notebooks = [each for each in examples() if each.path.suffix == ".ipynb"]
    for each in programs:
        write(f"examples/{each.path.stem}.md", *example_page(each))
    readme = (folder() / "README.md").read_text("utf-8")
    readme = re.sub(r"\]\((\w+)\.py\)", r"](\1.md)", readme)
    readme = re.sub(r"\]\(notebooks/", "](../notebooks/", readme)
    readme = re.sub(r"\[([^]]*)\]\((c/\w+\.c)\)", r"{download}`\1 <../../../examples/\2>`", readme)
    write("examples/index.md", readme, CONTENTS)
    for each in notebooks:
        write(f"notebooks/{each.path.name}", notebook_page(each))
    write("notebooks/index.md", *notebook_list(notebooks))
    write("glossary.md", *glossary_page())


# --- examples ------------------------------------------------------------------------------------


def example_page(example: Example) -> list[str]:
    """What a program is about, its text, and its output on the reference device."""
    path = folder() / example.path
    title = re.split("[:;]", example.title)[0].rstrip(".")
    return [
        f"# {path.stem[:2]}: {prose(title)}",
        prose(example.title) if ":" in example.title or ";" in example.title else "",
        prose(example.about),
        f"{{download}}`{path.name} <../../../examples/{path.name}>`",
        code(_program(path), "python"),
        "## What it prints",
        "On the reference device:",
        code(stored(path).read_text("utf-8").strip("\n"), "text"),
    ]


def _program(path: Path) -> str:
    """A program without its docstring, which the page shows as prose."""
    text = path.read_text("utf-8")
    first = ast.parse(text).body[0]
    return "".join(text.splitlines(keepends=True)[first.end_lineno :]).lstrip("\n")


def glossary_page() -> list[str]:
    """The terms in reading order, with the names that belong to them."""
    parts = [
        "# Glossary",
        "In the order in which they are best read. `python -m cudnn_ctypes lookup TERM` says the "
        "same, and finds what each name is.",
    ]
    for term, row in glossary().items():
        named = ", ".join(f"`{name}`" for name in row["names"])
        also = f" Also: {', '.join(row['also'])}." if row["also"] else ""
        parts.append(f"{term}\n: {row['says']}{also}" + (f"\n\n  {named}" if named else ""))
    return parts


# --- notebooks -----------------------------------------------------------------------------------


def notebook_page(example: Example) -> str:
    """The notebook with its outputs, and a link to it as a file."""
    notebook = json.loads((folder() / example.path).read_text("utf-8"))
    link = f"{{download}}`This notebook <../../../examples/{example.path}>` runs without a GPU; "
    link += "`python -m cudnn_ctypes examples --copy DIR` copies all, with what they import."
    first, number = notebook["cells"][0], example.path.name[:2]
    title, _, others = "".join(first["source"]).partition("\n")
    first["source"] = f"# {number}: {title.removeprefix('# ')}\n{others}\n\n{link}"
    return json.dumps(notebook, indent=1)


def notebook_list(notebooks: list[Example]) -> list[str]:
    rows = []
    for each in notebooks:
        needs, _, able = each.about.partition("**You need** ")[2].partition(
            "**You will be able to** "
        )
        title, _, question = each.title.partition(": ")
        rows.append(
            (
                each.path.name[:2],
                f"[{title}]({each.path.name}): {question}",
                needs.strip(" ."),
                able,
            )
        )
    you = [
        ("have never used cuDNN", "0 to 12, in order"),
        ("have half an hour", "0, 1, 2, 9 and 12"),
        ("train networks", "0 to 6"),
        ("use recurrent networks or attention", "0, 1, 2, 4, 5; then 7 or 8"),
        ("want fast graphs", "0, 1, 2, 9, 10; then 3 and 11"),
        ("know the C API, and are new to Python", "12, and the [programs](../examples/index.md)"),
    ]
    return [
        "# Notebooks",
        "Each asks a question, has you predict, shows a picture, and ends with an exercise whose "
        "check tells right from wrong. The answer is folded away below it: try first. The outputs "
        "are those of the reference device, so everything here can be run without a GPU:",
        code(
            "pip install '.[cu12,notebooks]'\npython -m cudnn_ctypes examples --copy course\n"
            "jupyter lab course/notebooks",
            "shell",
        ),
        grid(("you", "read"), you),
        "## The thirteen",
        grid(("", "notebook", "needs", "afterwards you can"), rows),
        CONTENTS,
    ]
