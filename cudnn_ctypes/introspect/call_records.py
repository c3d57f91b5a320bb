"""The record of one C call: plain data, which JSON holds and text shows.

An argument's value is a number, a text (an enumerator by name), None for NULL, a list, or a dict:

- ``{"object": "tensor1", "holds": {...}}``: a handle or descriptor, and what it holds
- ``{"allocation": "x", "offset": 0, "nbytes": 8192, "shape": [...]}``: memory, by the allocation
  that it lies in, which is called after the parameter that it was first passed for
- ``{"host": 64}``: so many bytes of host memory
- ``{"struct": {"field": value}}``: a C struct
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Argument", "CallRecord"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument.

    Attributes
    ----------
    name : str
        The parameter's name in C.
    value : object
        As the module says.
    out : bool
        Whether the call wrote it, on the host.
    """

    name: str
    value: Any
    out: bool = False


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of a C function.

    Attributes
    ----------
    number : int
        Its place in its trace, from 1 on; 0 before it is in one.
    function : str
        C's name.
    arguments : tuple of Argument
        In C's order.
    status : str
        Without ``CUDNN_STATUS_``: "SUCCESS", "BAD_PARAM". What is returned by a function that
        returns no status. The exception's name if an argument was refused before C.
    failed : bool
        Whether the status is another one than success.
    reason : str
        Why it failed, "" if nobody said.
    seconds : float
        On the host. Work that was put on the GPU goes on after the call.
    file, line
        Where the user's program called; "" and 0 at exit.
    thread : str
        The thread's name.
    not_finite : dict of str to str
        Names of outputs that hold NaN or infinity, and how many elements. Only asked by `nan`.
    """

    number: int
    function: str
    arguments: tuple[Argument, ...]
    status: str
    failed: bool = False
    reason: str = ""
    seconds: float = 0.0
    file: str = ""
    line: int = 0
    thread: str = ""
    not_finite: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {
            "number": self.number,
            "function": self.function,
            "arguments": [_argument(each) for each in self.arguments],
            "status": self.status,
            "failed": self.failed,
            "reason": self.reason,
            "seconds": self.seconds,
            "file": self.file,
            "line": self.line,
            "thread": self.thread,
            "not_finite": dict(self.not_finite),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CallRecord:
        """What `as_dict` gave.

        Parameters
        ----------
        data : dict
            As JSON holds it.

        Raises
        ------
        KeyError, TypeError
            If it is something else.
        """
        arguments = tuple(
            Argument(each["name"], each["value"], each.get("out", False))
            for each in data["arguments"]
        )
        return cls(**{**data, "arguments": arguments})


def _argument(argument: Argument) -> dict[str, Any]:
    said = {"name": argument.name, "value": argument.value}
    return {**said, "out": True} if argument.out else said
