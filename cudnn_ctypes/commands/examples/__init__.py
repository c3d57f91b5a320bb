"""``examples``: programs and notebooks that teach cuDNN, in reading order; copy them."""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from ...evidence.files import CommandError
from ...raw.describe import aligned
from ..options import add_force, add_json, file_name, refuse_overwriting, write_bytes

_INSTALLED = Path("share", "cudnn-ctypes", "examples")
"""Where the wheel puts them: data files, which no program can import."""


@dataclass(frozen=True)
class Example:
    """An example program or notebook.

    - `path`: relative to the examples' folder.
    - `title`: the first paragraph of its description.
    - `about`: the rest of its description.
    """

    path: Path
    title: str
    about: str


def folder() -> Path:
    """The examples' folder: beside the package in a checkout, else among the installed data files.

    Raises CommandError.
    """
    beside = Path(__file__).parents[3]
    places = [beside / "examples", beside / _INSTALLED, *_recorded()]
    for place in places:
        if (place / "01_smallest_program.py").is_file():
            return place
    raise CommandError(f"no examples in {' or '.join(map(str, places))}")


def _recorded() -> Iterator[Path]:
    """The folder by the installer's list of files."""
    with suppress(PackageNotFoundError):
        for file in distribution("cudnn-ctypes").files or ():
            if file.parts[-4:] == (*_INSTALLED.parts, "README.md"):
                yield Path(file.locate()).resolve().parent


def examples() -> Iterator[Example]:
    """All programs in reading order, then all notebooks."""
    place = folder()
    for path in sorted(place.glob("[0-9]*.py")):
        title, about = _parts(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "")
        yield Example(path.relative_to(place), title, about)
    for path in sorted(place.glob("notebooks/[0-9]*.ipynb")):
        first = json.loads(path.read_text("utf-8"))["cells"][0]["source"]
        title, about = _parts("".join(first).lstrip("# "))
        yield Example(path.relative_to(place), title, about)


def _parts(text: str) -> tuple[str, str]:
    """The first paragraph of a text as one line, and the other paragraphs."""
    first, _, others = text.strip().partition("\n\n")
    return " ".join(first.split()), others.strip()


def files() -> list[Path]:
    """All programs, notebooks and texts but solutions, relative to the examples' folder."""
    place = folder()
    return sorted(
        path.relative_to(place)
        for path in place.rglob("*")
        if path.suffix in (".py", ".c", ".ipynb", ".md") and path.parent.name != "solutions"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes examples``."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "name", nargs="?", help="a number or a part of a name: what these examples teach"
    )
    either.add_argument(
        "--copy", type=file_name, metavar="DIR", help="copy all of them into a folder"
    )
    either.add_argument(
        "--exercises",
        action="store_true",
        help="list the course's exercises, and how long each takes",
    )
    either.add_argument(
        "--answer", metavar="NAME", help="the solution of an exercise, or all of a lesson by number"
    )
    either.add_argument(
        "--grade",
        type=file_name,
        metavar="PLACE",
        help="run a learner's notebooks, and say which exercises are solved; 1 if not all are",
    )
    add_force(parser)
    add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    """List, show or copy the examples; list, solve or grade exercises; 2 on an error."""
    if arguments.copy is not None:
        written = _copy(arguments.copy, force=arguments.force)
        if arguments.json:
            print(json.dumps([str(path) for path in written], indent=2))
        else:
            print(f"{len(written)} files in {arguments.copy}; begin with README.md")
        return 0
    if arguments.grade is not None or arguments.answer is not None or arguments.exercises:
        return _exercises(arguments, folder() / "notebooks")
    chosen = list(_chosen(arguments.name or ""))
    if not chosen:
        raise CommandError(f"none is called {arguments.name!r}")
    if arguments.json:
        print(json.dumps([_as_dict(each) for each in chosen], indent=2))
    elif arguments.name is not None:
        _show(chosen)
    else:
        _list()
    return 0


def _exercises(arguments: argparse.Namespace, course: Path) -> int:
    """List, solve or grade exercises."""
    from . import grading

    data: Any
    if arguments.grade is not None:
        marks = list(grading.grade(course, arguments.grade))
        data, text = [asdict(mark) for mark in marks], grading.report(marks)
    elif arguments.answer is not None:
        answers = grading.solutions(course, arguments.answer)
        data = {name: code for name, (_, code) in answers.items()}
        text = "\n\n\n".join(f"{why}\n\n{code}" for why, code in answers.values())
    else:
        head = ("lesson", "exercise", "minutes", "calls")
        rows = list(grading.table(course))
        data = [dict(zip(head, row, strict=True)) for row in rows]
        text = aligned([head, *rows], right=("minutes",))
    print(json.dumps(data, indent=2) if arguments.json else text)
    return 0 if arguments.grade is None or all(mark["right"] for mark in data) else 1


def _chosen(name: str) -> Iterator[Example]:
    """The examples with a number, or with a part of a name."""
    if name.isdecimal():
        return (each for each in examples() if int(each.path.name.partition("_")[0]) == int(name))
    return (each for each in examples() if name.lower() in str(each.path).lower())


def _copy(target: Path, *, force: bool) -> list[Path]:
    """Copy all files; none if one of them exists and `force` is false."""
    written = [target / file for file in files()]
    refuse_overwriting(written, force=force)
    for file in files():
        write_bytes(target / file, (folder() / file).read_bytes(), force=force)
    return written


def _as_dict(example: Example) -> dict[str, str]:
    return {**asdict(example), "path": str(folder() / example.path)}


def _list() -> None:
    print(f"In reading order; README.md says who should read what. They are in {folder()}\n")
    notebooks = False
    for example in examples():
        if example.path.suffix == ".ipynb" and not notebooks:
            notebooks = True
            print("\nNotebooks, with exercises (--exercises); they need no GPU\n")
        print(f"  {example.path.stem:32} {example.title}")
    print("\nexamples NAME says more about one; examples --copy DIR copies all of them")


def _show(chosen: Sequence[Example]) -> None:
    for example in chosen:
        print(f"{folder() / example.path}\n\n{example.title}\n")
        if example.about:
            print(f"{example.about}\n")
