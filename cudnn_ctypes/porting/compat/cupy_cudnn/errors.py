"""The exception of CuPy's wrapper."""

from __future__ import annotations

from typing import Any

from .... import raw
from ..v7.status_numbers import status_of_old_number

__all__ = ["CuDNNError", "check_status"]


class CuDNNError(RuntimeError):
    """A call failed.

    Attributes
    ----------
    status : int
        The number that the status had before cuDNN 9.
    """

    def __init__(self, status: int, text: str = "") -> None:
        self.status = status
        told = text or str(raw.cudnnGetErrorString(status_of_old_number(status)))
        super().__init__(f"cuDNN Error: {told}")
        self._infos: list[str] = []

    def add_info(self, info: str) -> None:
        """Add a line to the text."""
        self._infos.append(info)

    def add_infos(self, infos: list[str]) -> None:
        """Add lines to the text."""
        self._infos += infos

    def __str__(self) -> str:
        return "\n  ".join([super().__str__(), *self._infos])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status,)


def check_status(status: int) -> None:
    """Raise for a status by its number before cuDNN 9; do nothing for 0."""
    if status:
        raise CuDNNError(status)
