"""``examples``: programs and notebooks that teach cuDNN, in reading order; copy them."""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import inspect
import io
import json
import linecache
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from ..evidence.exercises import Lesson
from ..evidence.files import CommandError
from ..raw.describe import aligned
from .options import (
    add_force,
    add_json,
    child_variables,
    file_name,
    refuse_overwriting,
    write_bytes,
)

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
    beside = Path(__file__).parents[2]
    places = [beside / "examples", beside / _INSTALLED, *_recorded()]
    for place in places:
        if (place / "01_smallest_program.py").is_file():
            return place
    raise CommandError(f"no examples in {' or '.join(map(str, places))}")


def _recorded() -> Iterator[Path]:
    """The folder by the installer's list of files."""
    with contextlib.suppress(PackageNotFoundError):
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
        told = [{**asdict(each), "path": str(folder() / each.path)} for each in chosen]
        print(json.dumps(told, indent=2))
    elif arguments.name is not None:
        _show(chosen)
    else:
        _list()
    return 0


def _exercises(arguments: argparse.Namespace, course: Path) -> int:
    """List, solve or grade exercises."""
    data: Any
    if arguments.grade is not None:
        marks = list(grade(course, arguments.grade))
        data, text = [asdict(mark) for mark in marks], report(marks)
    elif arguments.answer is not None:
        answers = solutions(course, arguments.answer)
        data = {name: code for name, (_, code) in answers.items()}
        text = "\n\n\n".join(f"{why}\n\n{code}" for why, code in answers.values())
    else:
        head = ("lesson", "exercise", "minutes", "calls")
        rows = list(table(course))
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


_SECONDS = 300
"""The time that one notebook may take."""


@dataclass(frozen=True)
class Mark:
    """The verdict on one exercise in one notebook."""

    notebook: str
    exercise: str
    right: bool
    text: str


def lesson(path: Path) -> Lesson:
    """The lesson that a file of exercises defines."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Lesson = module.lesson
    return found


def lesson_files(course: Path) -> dict[str, Path]:
    """The files of exercises by the numbers of their lessons: "02"."""
    return {path.stem[-2:]: path for path in sorted((course / "exercises").glob("lesson_*.py"))}


def table(course: Path) -> Iterator[tuple[str, ...]]:
    """Rows with lesson, exercise, minutes and the C functions that must be called."""
    for number, path in lesson_files(course).items():
        for each in lesson(path).exercises.values():
            yield number, each.name, str(each.minutes), ", ".join(dict.fromkeys(each.calls))


def solutions(course: Path, wanted: str) -> dict[str, tuple[str, str]]:
    """Explanation and code of solutions, by the exercises' names.

    - `wanted`: the name of an exercise, or the number of a lesson.

    Raises CommandError if there is none of that name.
    """
    found = {}
    for number, path in lesson_files(course).items():
        text = (course / "solutions" / path.name).read_text("utf-8")
        whole = wanted.isdecimal() and int(wanted) == int(number)
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and (why := ast.get_docstring(node, clean=False)):
                code = ast.get_source_segment(text, node) or ""
                code = re.sub(r'\n *"""' + re.escape(why) + '"""', "", code)
                if whole or node.name == wanted:
                    found[node.name] = inspect.cleandoc(why), code
    if not found:
        raise CommandError(f"no exercise and no lesson is called {wanted!r}")
    return found


def grade(course: Path, place: Path) -> Iterator[Mark]:
    """Run the notebooks in a folder, or one, and check what they define.

    Each runs in a process of its own. Its functions are held against the exercises of `course`,
    whatever the learner's copy of them says.

    Raises CommandError if there is no notebook of the course.
    """
    files = lesson_files(course)
    found = [place] if place.is_file() else sorted(place.rglob("[0-9][0-9]*.ipynb"))
    found = [path for path in found if path.stem[:2] in files and ".ipynb_" not in str(path)]
    if not found:
        raise CommandError(f"no notebook of the course in {place}")
    for path in found:
        for row in _graded(path, files[path.stem[:2]]):
            yield Mark(str(path), *row)


Row = tuple[str, bool, str]
"""An exercise, whether it is right, and what the check says."""


def _graded(notebook: Path, exercises: Path) -> list[Row]:
    command = [sys.executable, "-m", __name__, str(notebook.resolve()), str(exercises)]
    environment = child_variables() | {"MPLBACKEND": "Agg"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, env=environment, check=False
        )
        rows: list[Row] = json.loads(done.stdout.rpartition("\n")[2])
        return rows
    except subprocess.TimeoutExpired:
        reason = f"the notebook ran for more than {_SECONDS} seconds"
    except ValueError:
        reason = f"the notebook ended the process with status {done.returncode}"
    text = f"Not yet: {reason}"
    return [(name, False, text) for name in lesson(exercises).exercises]


def _run_and_check(notebook: Path, exercises: Path) -> Iterator[Row]:
    """In the process of a notebook: run its cells, and check its functions."""
    os.chdir(notebook.parent)
    sys.path.insert(0, str(exercises.parents[1]))  # our exercises and pictures come first
    namespace: dict[str, Any] = {"__name__": "__main__"}
    failures = []
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    for number, cell in enumerate((each for each in cells if each["cell_type"] == "code"), 1):
        source = re.sub(r"(?m)^[%!].*$", "", "".join(cell["source"]))  # lines for IPython alone
        name = f"cell {number}"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        try:
            exec(compile(source, name, "exec"), namespace)
        except BaseException as error:
            failures.append(f"code cell {number} raised {type(error).__name__}: {error}")
    for name, exercise in lesson(exercises).exercises.items():
        if name in namespace:
            verdict = exercise.check(namespace[name])
            yield name, verdict.right, verdict.text
        else:
            yield name, False, "\n  ".join([f"Not yet: there is no {name}", *failures])


def report(marks: Sequence[Mark]) -> str:
    """Marks as text: a line for each notebook, and what is not yet right."""
    lines = []
    for notebook in dict.fromkeys(mark.notebook for mark in marks):
        here = [mark for mark in marks if mark.notebook == notebook]
        wrong = [f"{mark.exercise}: {mark.text}" for mark in here if not mark.right]
        lines.append(f"{notebook}: {len(here) - len(wrong)} of {len(here)}")
        lines += [textwrap.indent(text, "  ") for text in wrong]
    return "\n".join(lines)


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):
        made = list(_run_and_check(Path(sys.argv[1]), Path(sys.argv[2])))
    print(f"\n{json.dumps(made)}", end="")
