"""The record of one C call: plain data that can be written as JSON and shown as text.

An argument's value is a number, a text (an enumerator by name), None for NULL, a list, or a dict:

- ``{"object": "tensor1", "holds": {...}}``: a handle or descriptor, and its values
- ``{"allocation": "x", "offset": 0, "nbytes": 8192, "shape": [...]}``: memory, by its allocation,
  which has the name of the parameter to which it was first passed
- ``{"host": 64}``: host memory and its size in bytes
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
        Plain data, described in this module's docstring.
    out : bool
        True if the call wrote the value, on the host.
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
        Number in the trace, from 1 on; 0 outside of a trace.
    function : str
        The function's name in C.
    arguments : tuple of Argument
        The arguments in C's order.
    status : str
        The status without ``CUDNN_STATUS_``: "SUCCESS", "BAD_PARAM". The result of a function that
        returns no status. The exception's name if an argument was refused before C.
    failed : bool
        True for every status but success.
    reason : str
        The reason for the failure, "" if unknown.
    seconds : float
        Time on the host. Work on the GPU goes on after the call.
    file, line
        The place of the call in the user's program; "" and 0 at exit.
    thread : str
        The thread's name.
    not_finite : dict of str to str
        Names of outputs with NaN or infinity, with the counts as text; only filled with `nan`.

    Examples
    --------
    >>> from cudnn_ctypes import ActivationDescriptor, trace
    >>> with trace(only="cudnnSetActivation*") as t, ActivationDescriptor("relu"):
    ...     call = t.calls[0]
    >>> {each.name: each.value for each in call.arguments if each.name in ("mode", "coef")}
    {'mode': 'CUDNN_ACTIVATION_RELU', 'coef': 0.0}
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
        """The record as plain data for JSON."""
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
        """The record from the result of `as_dict`.

        Parameters
        ----------
        data : dict
            As JSON holds it.

        Raises
        ------
        KeyError, TypeError
            If `data` is something else.
        """
        arguments = tuple(
            Argument(each["name"], each["value"], each.get("out", False))
            for each in data["arguments"]
        )
        return cls(**{**data, "arguments": arguments})


def _argument(argument: Argument) -> dict[str, Any]:
    said = {"name": argument.name, "value": argument.value}
    return {**said, "out": True} if argument.out else said
