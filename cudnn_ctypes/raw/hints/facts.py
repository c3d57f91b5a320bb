"""Faults that a call's arguments show: descriptors that do not fit together, wrong attributes."""

from __future__ import annotations

from typing import Any

from .. import backend, functions, live, operand_rules
from ..attributes import kind_name
from ..constants import CUDNN_DIM_MAX
from ..descriptors.images import vector_length
from ..enums import (
    CUDNN_TENSOR_NCHW_VECT_C,
    cudnnBackendAttributeName_t,
    cudnnBackendAttributeType_t,
    cudnnDataType_t,
    cudnnTensorFormat_t,
)
from .failure import Failure

__all__ = ["hint"]


def hint(failure: Failure) -> str:
    """A sentence naming the arguments that do not fit together; "" if none are found."""
    if failure.function in ("cudnnBackendSetAttribute", "cudnnBackendGetAttribute"):
        return _attribute(failure)
    if failure.function.startswith(("cudnnSetTensor", "cudnnSetFilter")):
        return _dimensions(failure) or _vectors(failure)
    return _operands(failure)


def _operands(failure: Failure) -> str:
    """The operand that breaks a rule; the reference device has given this reason already."""
    if not (failure.is_cudnn_s and failure.arguments):
        return ""
    values = {name: value for name, (_, value) in failure.arguments.items()}
    function, status = getattr(functions, failure.function), failure.status
    found = operand_rules.broken(
        function, values, asked=lambda rule: getattr(rule.status, "name", "no") in status
    )
    return "" if found is None else str(found)


def _attribute(failure: Failure) -> str:
    descriptor = backend.known(live.address(failure.argument("descriptor")))
    name = cudnnBackendAttributeName_t(_code(failure.argument("attributeName")))
    type_ = cudnnBackendAttributeType_t(_code(failure.argument("attributeType")))
    known = backend.attribute(name)
    if descriptor is None or descriptor.kind is None or known is None:
        return ""
    if known.kind != descriptor.kind:
        return (
            f"{name.name} is an attribute of {kind_name(known.kind)} descriptors, and this is a "
            f"descriptor of kind {kind_name(descriptor.kind)}"
        )
    if type_ not in known.types:
        types = " or ".join(each.name for each in known.types)
        return f"{name.name} takes {types}, and attributeType says {type_.name}"
    return ""


def _code(value: Any) -> int:
    return int(getattr(value, "value", value))


def _dimensions(failure: Failure) -> str:
    array, count = failure.argument("dimA", "filterDimA"), failure.argument("nbDims")
    if array is None:
        sizes = [failure.argument(name) for name in "nkchw"]
    else:  # a pointer has no end of its own
        sizes = array[: min(max(_code(count), 0), CUDNN_DIM_MAX)]
    numbers = [_code(size) for size in sizes if size is not None]
    return "every dimension must be at least 1" if any(size < 1 for size in numbers) else ""


def _vectors(failure: Failure) -> str:
    layout, data_type = failure.argument("format"), failure.argument("dataType")
    if layout is None or data_type is None:
        return ""
    in_vectors = cudnnTensorFormat_t(_code(layout)) == CUDNN_TENSOR_NCHW_VECT_C
    data_type = cudnnDataType_t(_code(data_type))
    if in_vectors and vector_length(data_type) == 1:
        return (
            f"CUDNN_TENSOR_NCHW_VECT_C is for vectors of channels, CUDNN_DATA_INT8x4, UINT8x4 and "
            f"INT8x32, not for {data_type.name}"
        )
    return ""
