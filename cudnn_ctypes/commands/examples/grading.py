"""The exercises of the course: their list, their solutions, and marks for learners' notebooks."""

from __future__ import annotations

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...evidence.exercises import Lesson
from ...evidence.files import CommandError
from ..options import child_variables

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
