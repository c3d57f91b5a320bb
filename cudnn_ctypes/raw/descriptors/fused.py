"""Records of the constant parameter packs of fused operations.

cuDNN tells of no pack for which operation it was created, and gives nothing back of some variant
packs, so of those there is no record.
"""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import byref, c_int
from dataclasses import dataclass
from typing import Any

from .. import types
from ..enums import cudnnFusedOpsConstParamLabel_t
from ..guards.labels import descriptor_name
from ..records import forget, reader, record
from ..types import cudnnFusedOpsConstParamPack_t
from .reading import call

__all__ = ["ConstantPack"]


@dataclass(frozen=True, slots=True)
class ConstantPack:
    """A constant pack.

    Attributes
    ----------
    held : mapping
        By C's labels without ``CUDNN_PARAM_``: records of descriptors, and ints for the mode and
        the placeholders. What is unset is absent.
    """

    held: Mapping[str, Any]


@reader(cudnnFusedOpsConstParamPack_t)
def _constants(pack: Any) -> ConstantPack:
    held: dict[str, Any] = {}
    for label in cudnnFusedOpsConstParamLabel_t:
        kind = descriptor_name(label.name)
        value = _number(pack, label) if kind is None else _descriptor(pack, label, kind)
        if value is not None:
            held[label.name.removeprefix("CUDNN_PARAM_")] = value
    return ConstantPack(held)


def _number(pack: Any, label: int) -> int | None:
    value, is_null = c_int(), c_int()
    about = (byref(value), byref(is_null))
    code = call("cudnnGetFusedOpsConstParamPackAttribute", pack, int(label), *about)
    return None if code or is_null.value else value.value


def _descriptor(pack: Any, label: int, kind: str) -> Any:
    """The record of the copy that the pack holds, which cuDNN copies into a descriptor of ours."""
    copy, is_null = getattr(types, kind)(), c_int()
    if call(f"cudnnCreate{kind.removeprefix('cudnn').removesuffix('_t')}", byref(copy)):
        return None
    try:
        about = (copy, byref(is_null))
        code = call("cudnnGetFusedOpsConstParamPackAttribute", pack, int(label), *about)
        return None if code or is_null.value else record(copy)
    finally:
        forget(copy)
        call(f"cudnnDestroy{kind.removeprefix('cudnn').removesuffix('_t')}", copy)
