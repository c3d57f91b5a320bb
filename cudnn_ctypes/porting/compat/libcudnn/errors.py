"""The exceptions of the ctypes wrapper, one per status, by the statuses' old numbers."""

from __future__ import annotations

from typing import Any

from .... import raw
from ....raw.gone_table import OLD_STATUS_NUMBERS
from ..v7.status_numbers import status_of_old_number

__all__ = ["cudnnCheckStatus", "cudnnError", "cudnnExceptions"]


class cudnnError(Exception):
    """A call failed.

    Attributes
    ----------
    status : int
        The number that the status had in cuDNN 2 to 8.
    """

    def __init__(self, status: int = 0, text: str = "") -> None:
        self.status = status
        super().__init__(status, text)

    def __str__(self) -> str:
        status, text = self.args
        return text or str(raw.cudnnGetErrorString(status_of_old_number(status)))


def _exception(name: str) -> Any:
    """``cudnnStatusBadParam`` for CUDNN_STATUS_BAD_PARAM."""
    words = name.removeprefix("CUDNN_STATUS_").split("_")
    text = f"The status {name}."
    namespace = {"__doc__": text, "__module__": __package__}
    return type("cudnnStatus" + "".join(map(str.capitalize, words)), (cudnnError,), namespace)


cudnnExceptions: dict[int, Any] = {
    number: _exception(name) for number, name in OLD_STATUS_NUMBERS.items() if number <= 10
}
"""The class for a status, by its old number."""


def cudnnCheckStatus(status: int) -> None:
    """Raise the exception for a status by its old number; do nothing for 0."""
    if status:
        raise cudnnExceptions.get(status, cudnnError)(status)
