"""One call while it happens, for those who need more than its record."""

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
    """A call that is about to be made, or was made just now.

    Attributes
    ----------
    function : Function
    given : mapping
        What the program passed, by C's name of the parameter.
    names : Names
        Of objects and memory.
    graphs : Graphs
        What was set in backend descriptors.
    file, line
        Where the user's program calls; "" and 0 at exit.
    execution : Execution, optional
        What ``cudnnBackendExecute`` works on; None for others, and where it is not known.
    refused : bool
        Whether the call failed before it came to C: this package refused it.
    """

    function: Function
    given: Mapping[str, Any]
    names: Names
    graphs: Graphs
    file: str = ""
    line: int = 0
    execution: Execution | None = None
    refused: bool = False
