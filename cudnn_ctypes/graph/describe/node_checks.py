"""Checks of one node against its kind: whatever a program or a stored graph has put into it."""

from __future__ import annotations

import ctypes
import math
import numbers
from collections.abc import Collection, Sequence
from typing import Any, get_args, get_origin

import numpy as np

from ...arguments import c_integer, flag, suggestion
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw import cudnnDataType_t
from ...raw.attributes import ATTRIBUTES, ENUMS, KINDS, Attribute
from ...raw.values import described
from .node import Kind, Node, Subgraph
from .tensor import Tensor
from .tensor_checks import check_number

__all__ = ["check_node", "check_option", "takes_several"]


_CTYPES: dict[Type, Any] = {
    Type.CUDNN_TYPE_INT64: ctypes.c_int64,
    Type.CUDNN_TYPE_INT32: ctypes.c_int32,
    Type.CUDNN_TYPE_FLOAT: ctypes.c_double,
    Type.CUDNN_TYPE_DOUBLE: ctypes.c_double,
}


def check_node(node: Any) -> None:
    """Refuse a node whose operands, results or options are not those of its kind.

    Raises
    ------
    TypeError, ValueError
        The message names the operation, and the operand, result or option.
    """
    if not isinstance(node, Node):
        raise TypeError(f"nodes: expected a Node, got {described(node)}")
    kind = node.kind
    for field in ("operation", "name"):
        if not isinstance(getattr(node, field), str):
            raise TypeError(f"{field}: expected text, got {type(getattr(node, field)).__name__}")
    _check_names(node, "input", node.inputs, kind.inputs)
    _check_names(node, "output", node.outputs, kind.outputs)
    _check_names(node, "option", node.options, kind.all_options)
    _check_names(node, "transposed operand", node.transposed, (*kind.inputs, *kind.outputs))
    for port in node.transposed:
        if isinstance(node.inputs.get(port), (list, tuple)):
            node.refuse(f"{port}: tensors of a list cannot be transposed")
    for port in kind.inputs:
        if port not in node.inputs and port not in kind.optional:
            raise TypeError(f"{node}: {port} is missing")
    for port, value in node.inputs.items():
        _check_operand(node, port, value)
    _check_names(node, "subgraph", node.subgraphs, kind.subgraphs)
    for name, subgraph in node.subgraphs.items():
        if not isinstance(subgraph, Subgraph):
            raise TypeError(f"{node}: {name}: expected a Subgraph, got {described(subgraph)}")
        for inner in subgraph.nodes:
            check_node(inner)
    if not node.outputs:
        node.refuse(f"expected at least one output of {', '.join(kind.outputs)}")
    for port, value in node.outputs.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"{node}: {port}: expected a Tensor, got {described(value)}")
    if len({id(tensor) for tensor in node.outputs.values()}) < len(node.outputs):
        node.refuse(f"its outputs {', '.join(node.outputs)} must be different tensors")
    for option in sorted(kind.required):
        if node.options.get(option) is None:
            raise TypeError(f"{node}: {option} is missing")
    for option, value in node.options.items():
        if value is not None:
            check_option(kind, option, value, f"{node}: {option}")
    if not isinstance(node.compute_data_type, (cudnnDataType_t, type(None))):
        given = described(node.compute_data_type)
        raise TypeError(f"{node}: compute_data_type: expected a cudnnDataType_t, got {given}")


def takes_several(kind: Kind, port: str) -> bool:
    """Whether this operand is a list of tensors."""
    return not kind.composite and ATTRIBUTES[KINDS[kind.descriptor]][kind.inputs[port]].is_array


def check_option(kind: Kind, option: str, value: Any, place: str) -> None:
    """Refuse what an option of a kind does not take.

    Parameters
    ----------
    place : str
        Where the value stands, for the message.

    Raises
    ------
    TypeError
        If the value is of another type.
    ValueError
        If it does not fit in its C type.
    """
    own = kind.own_options.get(option)
    if own is not None:
        _check_type(own, value, place)
        return
    descriptor, name = kind.all_options[option]
    known = ATTRIBUTES[KINDS[descriptor]][name]
    wanted = ENUMS.get(known.types[0])
    if wanted is not None:
        if type(value) is not wanted:
            raise TypeError(f"{place}: expected a {wanted.__name__}, got {described(value)}")
        return  # newer than the loaded cuDNN or not, is asked when it is built
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{place}: expected a number, got {described(value)}")
    is_parameter = kind.descriptor.startswith("operation_pointwise")
    # cuDNN compiles no kernel for it, except as an upper bound.
    if is_parameter and isinstance(value, (float, np.floating)) and math.isnan(value):
        raise ValueError(f"{place}: expected a number, got NaN")
    # Of a convolution or pooling: one number stands for as many as there are spatial dimensions.
    spatial = known.is_array and kind.inner is not None and option in kind.inner.options
    one = spatial and isinstance(value, (numbers.Number, np.generic))
    _check_elements(known, (value,) if one else value, place, one=one)


def _check_elements(known: Attribute, value: Any, place: str, *, one: bool) -> None:
    """Refuse values that the attribute's C type does not hold."""
    listed = isinstance(value, (Sequence, np.ndarray))
    if known.is_array != listed:
        wanted = "a list" if known.is_array else "one value"
        raise TypeError(f"{place}: expected {wanted}, got {described(value)}")
    if not known.is_array:
        value = (value,)
    # Alternatives to a descriptor, and to each other.
    ctypes_taken = [_CTYPES[each] for each in known.types if each in _CTYPES]
    for i, each in enumerate(value):
        at = f"{place}[{i}]" if known.is_array and not one else place
        if Type.CUDNN_TYPE_FRACTION in known.types:
            if not isinstance(each, numbers.Rational):
                raise TypeError(f"{at}: expected a Fraction or an int, got {described(each)}")
        elif ctypes.c_double in ctypes_taken:
            if isinstance(each, (bool, np.bool_)):
                raise TypeError(f"{at}: expected a number, got {described(each)}")
            check_number(at, each)
        elif Type.CUDNN_TYPE_BOOLEAN in known.types:
            flag(at, each)
        else:
            c_integer(at, each, ctypes_taken[0])


def _check_names(node: Node, what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            node.refuse(f"there is no {what} {name!r}{suggestion(str(name), known)}")


def _check_operand(node: Node, port: str, value: Any) -> None:
    several = takes_several(node.kind, port)
    if several != isinstance(value, (list, tuple)):
        wanted = "a list of tensors" if several else "one tensor"
        raise TypeError(f"{node}: {port}: expected {wanted}, got {described(value)}")
    if several and not value:
        node.refuse(f"{port}: expected at least one tensor")
    for each in value if several else [value]:
        if not isinstance(each, Tensor):
            raise TypeError(f"{node}: {port}: expected a Tensor, got {described(each)}")


def _check_type(wanted: Any, value: Any, place: str) -> None:
    """`wanted` is a type, or a tuple of any number of one."""
    if get_origin(wanted) is tuple:
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{place}: expected a list, got {described(value)}")
        for i, each in enumerate(value):
            _check_type(get_args(wanted)[0], each, f"{place}[{i}]")
    elif wanted is int:
        c_integer(place, value, ctypes.c_int64)
    elif wanted is float:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{place}: expected a number, got {described(value)}")
        check_number(place, value)
    elif not isinstance(value, wanted):
        raise TypeError(f"{place}: expected a {wanted.__name__}, got {described(value)}")
    elif wanted is slice:
        for part in (value.start, value.stop, value.step):
            if part is not None:
                c_integer(place, part, ctypes.c_int64)
        if value.step == 0:
            raise ValueError(f"{place}: the step of {value} is 0")
