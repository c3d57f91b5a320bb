"""The numbers that statuses had before cuDNN 9."""

from __future__ import annotations

from .... import raw
from ....raw.gone_table import OLD_STATUS_NUMBERS

__all__ = ["old_status_number", "status_of_old_number"]

# By the number of cuDNN 9. If cuDNN 9 merged two old statuses, the lower old number is used.
_NUMBERS = {
    int(raw.cudnnStatus_t[OLD_STATUS_NUMBERS[number]]): number
    for number in sorted(OLD_STATUS_NUMBERS, reverse=True)
}
# The status for each category (thousand) of statuses that cuDNN 8 did not distinguish.
_CATEGORIES = {
    1: raw.CUDNN_STATUS_NOT_INITIALIZED,
    2: raw.CUDNN_STATUS_BAD_PARAM,
    3: raw.CUDNN_STATUS_NOT_SUPPORTED,
    4: raw.CUDNN_STATUS_INTERNAL_ERROR,
    5: raw.CUDNN_STATUS_EXECUTION_FAILED,
}


def old_status_number(status: int) -> int:
    """The number that cuDNN 2 to 8 had for a status, for programs that print or compare numbers.

    Statuses that only cuDNN 9 has get the number of their category.

    >>> from cudnn_ctypes import raw
    >>> old_status_number(raw.CUDNN_STATUS_BAD_PARAM), old_status_number(2004)
    (3, 3)
    """
    status = int(status)
    if not status:
        return 0
    category = _CATEGORIES.get(status // 1000, raw.CUDNN_STATUS_INTERNAL_ERROR)
    return _NUMBERS.get(status, _NUMBERS[int(category)])


def status_of_old_number(number: int) -> raw.cudnnStatus_t:
    """The status of a number before cuDNN 9.

    Raises
    ------
    ValueError
        If no status had the number.

    >>> status_of_old_number(9)
    cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED
    """
    if number == 0:
        return raw.CUDNN_STATUS_SUCCESS
    if number not in OLD_STATUS_NUMBERS:
        known = f"0 to {max(OLD_STATUS_NUMBERS)}"
        raise ValueError(f"number: expected {known}, a status of cuDNN 2 to 8; got {number}")
    return raw.cudnnStatus_t[OLD_STATUS_NUMBERS[number]]
