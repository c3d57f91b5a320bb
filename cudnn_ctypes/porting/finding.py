"""Findings: one place of a program, and a report's remark on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["KINDS", "Finding"]

KINDS = {
    "gone": "names that cuDNN 9 has not, or calls with other parameters",
    "fault": "what goes wrong, or hides that it does",
    "note": "what to look at",
    "cuda": "the CUDA runtime and driver",
    "kernel": "kernels",
    "library": "other libraries",
    "unknown": "misspelt names",
    "unread": "what the grammar could not read",
    "other": "what only other releases of cuDNN compile",
    "own": "names like cuDNN's that are the program's or another library's",
    "kept": "names that are as they were",
}
"""The kinds of findings, in the order of a report."""


@dataclass(frozen=True)
class Finding:
    """A remark on one place of a program.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    line, column : int
        From 1.
    name : str
        The name that the remark is about, or "".
    text : str
        The remark.
    code : tuple of str
        Python code to write, a line each.
    """

    kind: str
    line: int
    column: int
    name: str
    text: str = ""
    code: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "code": list(self.code)}
