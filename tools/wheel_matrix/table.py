"""The matrix as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudnn_ctypes.raw.library import version_text

from .environments import Result

__all__ = ["page"]

_STEPS = {
    "library": "loading",
    "legacy_descriptors": "legacy descriptors",
    "legacy_on_the_reference_device": "legacy on the reference device",
    "graph_descriptors": "graph descriptors",
    "graph_on_the_reference_device": "graph on the reference device",
    "compiling_for_an_h200": "compiling for an H200",
    "cuda_python": "CUDA Python",
    "doctor": "doctor",
}

_HEAD = f"""\
# What was tried with which cuDNN

Written by `python -m tools.wheel_matrix`. Each row is an environment of its own: the built wheel,
installed with its extra and nothing else, in a process without the variables of a shell, without a
compiler on the path, and with a home folder that cannot be written, on a machine without a GPU.
Tried are:
{", ".join(_STEPS.values())}.
"""


def page(results: Sequence[Result]) -> str:
    """The page: versions of cuDNN, dependencies, and the reasons of what does not work."""
    notes = _Notes()
    versions = [result for result in results if result.row.cudnn]
    dependencies = [result for result in results if not result.row.cudnn]
    parts = [_HEAD]
    if versions:
        parts += ["## Versions of cuDNN\n", _versions(versions, notes)]
    if dependencies:
        parts += ["## The lowest and the newest dependencies\n", _dependencies(dependencies, notes)]
    if notes.texts:
        parts += ["## What does not work, and why\n", str(notes)]
    return "\n".join(parts)


class _Notes:
    """Reasons, each listed once by number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def mark(self, text: str) -> str:
        if text not in self.texts:
            self.texts.append(text)
        return f"({self.texts.index(text) + 1})"

    def __str__(self) -> str:
        return "\n".join(f"{n}. {_cell(text)}" for n, text in enumerate(self.texts, 1)) + "\n"


def _versions(results: Sequence[Result], notes: _Notes) -> str:
    head = ("cuDNN", "extra", "functions", "works")
    return _table(
        head, ((_name(r), r.row.extra, _functions(r, notes), _works(r, notes)) for r in results)
    )


def _dependencies(results: Sequence[Result], notes: _Notes) -> str:
    packages = ("numpy", "ml_dtypes", "cuda-core", "cuda-bindings", "rich")
    head = ("Python", "extra", "cuDNN", *packages, "works")
    return _table(
        head,
        (
            (
                r.versions.get("python", r.row.python),
                r.row.extra or "none",
                _name(r),
                *(r.versions.get(name, "") for name in packages),
                _works(r, notes),
            )
            for r in results
        ),
    )


def _name(result: Result) -> str:
    return version_text(result.cudnn) if result.cudnn else result.row.cudnn or "none"


def _functions(result: Result, notes: _Notes) -> str:
    if wrong := result.contradictions:
        return f"{len(result.exports)} {notes.mark('not as stated: ' + ', '.join(wrong))}"
    return str(len(result.exports))


def _works(result: Result, notes: _Notes) -> str:
    if result.failure:
        return f"nothing {notes.mark(result.failure)}"
    reasons = {step: text for step, text in result.steps.items() if text != "ok"}
    marks = {_STEPS[step]: notes.mark(reasons[step]) for step in _STEPS if step in reasons}
    if len(marks) > len(_STEPS) // 2:
        working = (name for name in _STEPS.values() if name not in marks)
        return f"only {', '.join(working)} {' '.join(dict.fromkeys(marks.values()))}"
    failing = ", ".join(f"{name} {mark}" for name, mark in marks.items())
    return f"all but {failing}" if failing else "all"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
