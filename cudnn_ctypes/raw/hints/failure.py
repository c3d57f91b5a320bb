"""A call that failed, as hints look at it."""

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
        C's name; "" where only a status is asked about.
    status : str
        Its name.
    reasons : sequence of str
        That were given, outermost last.
    source : str
        Who gave them.
    arguments : mapping
        By C's name of the parameter: the parameter, and what the program passed.
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
        """All reasons, a line each."""
        return "\n".join(self.reasons)

    @property
    def is_cudnn_s(self) -> bool:
        """Whether cuDNN itself returned the status, and so may have a cause that it did not say."""
        return self.source == log.CUDNN

    def argument(self, *names: str) -> Any:
        """What was passed for the first of these parameters that the function has; else None."""
        return next((self.arguments[name][1] for name in names if name in self.arguments), None)

    def name(self, *names: str) -> str:
        """The first of these parameters that the function has; else ""."""
        return next((name for name in names if name in self.arguments), "")

    def record(self, *names: str) -> Any:
        """What the descriptor holds that was passed for the first of these parameters."""
        return records.record(self.argument(*names))
