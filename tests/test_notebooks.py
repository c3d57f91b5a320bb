"""The notebooks run without a GPU, and their outputs are true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

from cudnn_ctypes.commands.lookup.entries import glossary  # noqa: E402
from tools import notebooks as course  # noqa: E402

NOTEBOOKS = course.notebooks()
EXAMPLES = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """One kernel for all notebooks of this module: starting it takes longer than most of them."""
    with course.kernel() as manager:
        yield manager


def shown(cell: Any) -> list[dict[str, str]]:
    """What a cell shows; of pictures of matplotlib, whose bytes vary, only that they are there."""
    found: list[dict[str, str]] = []
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            found.append({output.name: output.text})
        else:
            data = {kind: "".join(text) for kind, text in output.data.items()}
            found.append({**data, **({"image/png": ""} if "image/png" in data else {})})
    return found


@pytest.mark.soak
@EXAMPLES
def test_runs_as_stored(path: Path, kernel: Any) -> None:
    stored = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    with course.session(kernel, notebook) as client:
        course.execute(client)
    for before, after in zip(stored.cells, notebook.cells, strict=True):
        if course.VARIES not in before.metadata.get("tags", ()):
            assert shown(after) == shown(before), before.source
        # The same kinds of outputs in any case.
        assert [sorted(each) for each in shown(after)] == [sorted(each) for each in shown(before)]


@EXAMPLES
def test_has_all_parts(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert notebook.cells[0].source.startswith("# ")
    parts = ("**You need**", "**You will be able to**", "## Question", "Predict", "## Exercise")
    assert [part for part in parts if part not in text] == []
    assert re.search(r"^## The picture", text, re.MULTILINE)
    kinds = {kind for cell in notebook.cells for each in shown(cell) for kind in each}
    assert kinds & {"image/png", "image/svg+xml"}
    attempts, checks = (course.tagged(notebook, tag) for tag in ("exercise", "check"))
    assert len(attempts) == len(checks) == 3
    for attempt, check in zip(attempts, checks, strict=True):
        name = check.source.removeprefix("check(").removesuffix(")")
        assert attempt.source.startswith(f"def {name}(")
        (output,) = shown(check)
        assert output["text/plain"].startswith("Not yet: ")
    assert not any(
        output.output_type == "error" for c in notebook.cells for output in c.get("outputs", ())
    )


@EXAMPLES
def test_is_small_and_names_nothing_of_the_machine(path: Path) -> None:
    text = path.read_text()
    assert len(text) < 100_000
    assert "0x7f" not in text
    assert str(Path.home()) not in text
    assert "/tmp" not in text


def test_there_are_thirteen() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"{number:02}" for number in range(13)]


def prose(path: Path) -> str:
    """What a lesson says, comments included, without its title and what it promises."""
    told = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"(?ms:```.*?```)|`[^`]*`|(?m:^(#|\*\*You ).*$)", "", cell.source)
        else:
            text = "\n".join(re.findall(r"#\s.*", cell.source))
        told.append(text)
    return "\n".join(told)


def untold(lessons: list[str]) -> list[str]:
    """The terms of the glossary that lessons use before one of them tells the term, in bold."""
    whole = "\n".join(lessons)
    found = []
    for term, row in glossary().items():
        words = "|".join(map(re.escape, (term, *row["also"])))
        first = re.search(
            rf"((?<![\w.,:?!])\*\*(?=\w)[^*\n]*)?\b(?:{words})s?\b", whole, re.IGNORECASE
        )
        if first and not first[1]:
            found.append(term)
    return found


@pytest.mark.soak
def test_lessons_use_no_term_before_it_is_told() -> None:
    lessons = [prose(path) for path in NOTEBOOKS]
    assert not untold(lessons)
    assert {"layout", "engine", "plan"} <= set(untold(lessons[1:]))
    assert untold(["**Build.** Heuristics come first"]) == ["heuristics"]
    for term in ("handle", "descriptor", "layout", "stream", "workspace", "reference device"):
        assert f"**{term}**" in lessons[0]
