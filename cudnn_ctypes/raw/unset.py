"""Descriptors that were created but never set, where cuDNN divides by their zeros or follows them.

Found by tools/null_arguments.py with cuDNN 9.14 and 9.19 on a GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from . import log

__all__ = ["MUST_BE_SET", "refusing_unset"]

MUST_BE_SET: dict[str, str] = {
    "cudnnTransformFilter": "srcDesc destDesc",
    "cudnnGetRNNTempSpaceSizes": "rnnDesc",
}

_NOT_INITIALIZED, _BAD_PARAM = 1001, 2000  # cudnnStatus_t


def refusing_unset(
    name: str, parameters: list[str], callee: Callable[..., Any]
) -> Callable[..., Any]:
    """`callee`, which stands for the C function `name`, behind a look at its descriptors."""
    is_unset = _rnn_is_unset if name == "cudnnGetRNNTempSpaceSizes" else _filter_is_unset
    positions = {each: parameters.index(each) for each in MUST_BE_SET[name].split()}

    def check(*arguments: Any) -> Any:
        try:
            unset = [each for each, i in positions.items() if is_unset(arguments[i])]
        except TypeError:  # of another type: ctypes refuses it by the name of the parameter
            unset = []
        if unset:
            log.put(*(f"{each} was created, but never set" for each in unset))
            return _BAD_PARAM
        return callee(*arguments)

    return check


def _filter_is_unset(descriptor: Any) -> bool:
    from .functions import cudnnGetFilterSizeInBytes

    size = ctypes.c_size_t(1)
    return not cudnnGetFilterSizeInBytes.unchecked(descriptor, size) and not size.value


def _rnn_is_unset(descriptor: Any) -> bool:
    from .functions import cudnnGetRNNDescriptor_v8
    from .types import cudnnDropoutDescriptor_t

    numbers = [ctypes.c_int() for _ in range(12)]
    status = cudnnGetRNNDescriptor_v8.unchecked(
        descriptor, *numbers, cudnnDropoutDescriptor_t(), ctypes.c_uint()
    )
    return int(status) == _NOT_INITIALIZED
