"""The matrix as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudnn_ctypes.raw.library import version_text

from .environments import Result

__all__ = ["page"]

_COLUMNS = {
    "library": "loads",
    "legacy_descriptors": "legacy descriptors",
    "legacy_on_the_reference_device": "legacy, reference device",
    "graph_descriptors": "graph descriptors",
    "graph_on_the_reference_device": "graph, reference device",
    "compiling_for_an_h200": "compiles for an H200",
    "cuda_python": "CUDA Python",
    "doctor": "doctor",
}

_HEAD = """\
---
orphan: true
---

# What was tried with which cuDNN

Written by `python -m tools.wheel_matrix`. Each row is an environment of its own: the built wheel,
installed with its extra and nothing else, in a process without the variables of a shell, without a
compiler on the path, and with a home folder that cannot be written, on a machine without a GPU.
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
        if text == "ok":
            return "yes"
        if text not in self.texts:
            self.texts.append(text)
        return f"no ({self.texts.index(text) + 1})"

    def __str__(self) -> str:
        return "\n".join(f"{n}. {_cell(text)}" for n, text in enumerate(self.texts, 1)) + "\n"


def _versions(results: Sequence[Result], notes: _Notes) -> str:
    head = ("cuDNN", "extra", "functions", *_COLUMNS.values())
    return _table(
        head, ((_name(r), r.row.extra, _functions(r, notes), *_steps(r, notes)) for r in results)
    )


def _dependencies(results: Sequence[Result], notes: _Notes) -> str:
    packages = ("numpy", "ml_dtypes", "cuda-core", "cuda-bindings", "rich")
    head = ("Python", "extra", "cuDNN", *packages, *_COLUMNS.values())
    return _table(
        head,
        (
            (
                r.versions.get("python", r.row.python),
                r.row.extra or "none",
                _name(r),
                *(r.versions.get(name, "") for name in packages),
                *_steps(r, notes),
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


def _steps(result: Result, notes: _Notes) -> list[str]:
    if result.failure:
        return [notes.mark(result.failure)] * len(_COLUMNS)
    return [notes.mark(result.steps[step]) for step in _COLUMNS]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
