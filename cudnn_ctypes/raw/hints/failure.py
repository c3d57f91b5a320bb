"""The record of a failed call that hints examine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import log, records

if TYPE_CHECKING:
    from ..function import Parameter

__all__ = ["Failure"]


@dataclass(frozen=True)
class Failure:
    """A call that failed.

    Attributes
    ----------
    function : str
        C's name; "" for a question about a status alone.
    status : str
        The status's name.
    reasons : sequence of str
        The reasons for the failure, outermost last.
    source : str
        The origin of the reasons.
    arguments : mapping
        The parameter and the program's argument, by the parameter's C name.
    """

    function: str
    status: str
    reasons: tuple[str, ...] = ()
    source: str = log.CUDNN
    arguments: Mapping[str, tuple[Parameter, Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        function: str,
        status: str,
        reasons: Iterable[str],
        source: str,
        arguments: Iterable[tuple[Parameter, Any]],
    ) -> Failure:
        by_name = {parameter.name: (parameter, value) for parameter, value in arguments}
        return cls(function, status, tuple(filter(None, reasons)), source, by_name)

    @property
    def text(self) -> str:
        """All reasons, one per line."""
        return "\n".join(self.reasons)

    @property
    def is_cudnn_s(self) -> bool:
        """Whether cuDNN itself returned the status, whose cause it may not have stated."""
        return self.source == log.CUDNN

    def argument(self, *names: str) -> Any:
        """The argument for the first of these parameters that the function has; else None."""
        return next((self.arguments[name][1] for name in names if name in self.arguments), None)

    def name(self, *names: str) -> str:
        """The first of these parameters that the function has; else ""."""
        return next((name for name in names if name in self.arguments), "")

    def record(self, *names: str) -> Any:
        """The record of the descriptor passed for the first of these parameters."""
        return records.record(self.argument(*names))
