"""Pages of the site for the course: each example and each notebook, their lists, the glossary."""

from __future__ import annotations

import ast
import json
import re
from html import escape
from pathlib import Path
from typing import Any

from cudnn_ctypes.commands.examples import Example, examples, folder, solutions
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
    """The notebook with its outputs, a link to the file, answers, and the terms explained."""
    notebook = json.loads((folder() / example.path).read_text("utf-8"))
    link = f"{{download}}`This notebook <../../../examples/{example.path}>` runs without a GPU; "
    link += "`python -m cudnn_ctypes examples --copy DIR` copies all, with what they import."
    first, number = notebook["cells"][0], example.path.name[:2]
    title, _, others = "".join(first["source"]).partition("\n")
    first["source"] = f"# {number}: {title.removeprefix('# ')}\n{others}\n\n{link}"
    answers = solutions(folder() / "notebooks", number)
    cells = []
    for cell in notebook["cells"]:
        cells.append(cell)
        if cell["cell_type"] == "markdown":
            cell["source"] = _explained("".join(cell["source"]))
        elif "check" in cell["metadata"].get("tags", ()):
            name = re.sub(r"check\((\w+)\)", r"\1", "".join(cell["source"]))
            cells.append(_answer(*answers[name], f"answer-{name}"))
    notebook["cells"] = cells
    return json.dumps(notebook, indent=1)


def _answer(why: str, text: str, name: str) -> dict[str, Any]:
    """A cell with a solution, folded."""
    parts = ("<details><summary><b>Answer</b> (unfold)</summary>", why, code(text, "python"))
    source = "\n\n".join((*parts, "</details>"))
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def _explained(text: str) -> str:
    """Markdown with what the glossary says of each term in bold, shown where a pointer rests."""
    rows = {
        word.lower(): row["says"]
        for term, row in glossary().items()
        for word in (term, *row["also"])
    }

    def hover(found: re.Match[str]) -> str:
        says = rows.get(found[1].lower())
        return f'<abbr title="{escape(says)}">{found[1]}</abbr>' if says else found[1]

    return re.sub(r"\*\*([\w -]+)\*\*", lambda found: f"**{hover(found)}**", text)


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
        "Each asks a question, has you predict, shows a picture, and ends with three exercises of "
        "rising difficulty, whose check says what is wrong and why. The answers are folded away: "
        "try first. The outputs are those of the reference device, so everything here can be run "
        "without a GPU:",
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
