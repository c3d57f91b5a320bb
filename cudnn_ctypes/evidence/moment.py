"""A call in progress, for listeners that need more than its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..raw.function import Function
from .arguments import Names
from .backend_calls import Execution, Graphs

__all__ = ["Moment"]


@dataclass
class Moment:
    """A call that is about to be made, or has just been made.

    Attributes
    ----------
    function : Function
    arguments : mapping
        The program's arguments, by the parameters' C names.
    names : Names
        The names of objects and memory.
    graphs : Graphs
        The values that were set in backend descriptors.
    file, line
        The place of the call in the user's program; "" and 0 at exit.
    execution : Execution, optional
        The operands of ``cudnnBackendExecute``; None for other functions, and if unknown.
    refused : bool
        True if this package refused the call before C.
    """

    function: Function
    arguments: Mapping[str, Any]
    names: Names
    graphs: Graphs
    file: str = ""
    line: int = 0
    execution: Execution | None = None
    refused: bool = False
