"""Descriptors that were created but never set, where cuDNN divides by their zeros or follows them.

Found by tools/null_arguments.py with cuDNN 9.14 and 9.19 on a GPU.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from . import Fragment

if TYPE_CHECKING:
    from ..function import Binding

__all__ = ["MUST_BE_SET", "fragment"]

MUST_BE_SET: dict[str, str] = {
    "cudnnTransformFilter": "srcDesc destDesc",
    "cudnnGetRNNTempSpaceSizes": "rnnDesc",
}

_NOT_INITIALIZED, _BAD_PARAM = 1001, 2000  # cudnnStatus_t


def fragment(binding: Binding) -> Fragment | None:
    names = MUST_BE_SET.get(binding.name, "").split()
    if not names:
        return None
    is_unset = _rnn_is_unset if binding.name == "cudnnGetRNNTempSpaceSizes" else _filter_is_unset

    def unset(*descriptors: Any) -> list[str]:
        try:
            return [
                f"{name} was created, but never set"
                for name, descriptor in zip(names, descriptors, strict=True)
                if is_unset(descriptor)
            ]
        except TypeError:  # of another type: ctypes refuses it by the name of the parameter
            return []

    return Fragment(
        before=[
            f"_unset = _unset_names({', '.join(names)})",
            f"if _unset: return _refused({_BAD_PARAM}, {{args}}, *_unset)",
        ],
        scope={"_unset_names": unset},
    )


def _filter_is_unset(descriptor: Any) -> bool:
    from ..functions import cudnnGetFilterSizeInBytes

    size = ctypes.c_size_t(1)
    return not cudnnGetFilterSizeInBytes.unchecked(descriptor, size) and not size.value


def _rnn_is_unset(descriptor: Any) -> bool:
    from ..functions import cudnnGetRNNDescriptor_v8
    from ..types import cudnnDropoutDescriptor_t

    numbers = [ctypes.c_int() for _ in range(12)]
    status = cudnnGetRNNDescriptor_v8.unchecked(
        descriptor, *numbers, cudnnDropoutDescriptor_t(), ctypes.c_uint()
    )
    return int(status) == _NOT_INITIALIZED
