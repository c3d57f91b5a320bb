"""Checks of a graph as a whole, before cuDNN is asked, and what the user left open of it."""

from __future__ import annotations

import ctypes
import math
import numbers
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple, NoReturn, get_args, get_origin

import numpy as np

from ... import arguments
from ...arguments import c_integer, flag, suggestion
from ...dtypes import data_type_name
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw import cudnnBackendTensorReordering_t, cudnnDataType_t
from ...raw.attributes import ATTRIBUTES, ENUMS, KINDS, Attribute
from ...raw.ctypes_support import CudnnEnum
from ...raw.strides import has_gaps, overlapping, packed, packed_like
from ...raw.values import described
from .node import Kind, Node, Result, Subgraph
from .tensor import Tensor

_MOST = (1 << 63) - 1  # cuDNN's numbers have 64 bits
_INTEGERS = ("uid", "vector_dimension", "alignment", "ragged_offset_multiplier", "vector_count")
_OPTIONAL = ("uid", "vector_dimension")


def check_tensor(tensor: Any) -> None:
    """Refuse what no tensor can be, and put dims and strides into tuples of int."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensors: expected a Tensor, got {described(tensor)}")
    place = f"tensor {tensor.name!r}"
    if not isinstance(tensor.name, str):
        raise TypeError(f"{place}: name: expected text, got {described(tensor.name)}")
    for name, least in (("dims", 1), ("strides", 0)):
        given = getattr(tensor, name)
        if given is not None:
            setattr(tensor, name, _sizes(f"{place}: {name}", given, least))
    dims, strides = tensor.dims, tensor.strides
    if dims is not None and strides is not None and len(dims) != len(strides):
        raise ValueError(f"{place}: {len(dims)} dims {dims}, but {len(strides)} strides {strides}")
    for name in _INTEGERS:
        value = getattr(tensor, name)
        if value is not None or name not in _OPTIONAL:
            setattr(tensor, name, integer(f"{place}: {name}", value))
    for name in ("ragged_offset_multiplier", "vector_count"):
        if getattr(tensor, name) < 1:
            raise ValueError(f"{place}: {name} must be positive, got {getattr(tensor, name)}")
    for name in ("virtual", "by_value", "scratch"):
        _check_type(f"{place}: {name}", getattr(tensor, name), bool)
    _check_type(f"{place}: data_type", tensor.data_type, (cudnnDataType_t, type(None)))
    _check_type(f"{place}: reordering", tensor.reordering, cudnnBackendTensorReordering_t)
    _check_type(f"{place}: ragged_offset", tensor.ragged_offset, (Tensor, type(None)))
    if tensor.uid == -1:  # cuDNN 9.28 refuses element-wise graphs with it, for other reasons
        raise ValueError(f"{place}: uid: -1 is cuDNN's own; any other int will do")
    if tensor.ragged_offset is not None and tensor.ragged_offset.ragged_offset is not None:
        raise ValueError(f"{place}: its ragged_offset has one itself")
    if tensor.value is not None:
        _check_value(tensor, place)


def check_memory(tensor: Tensor, made: bool) -> None:
    """Refuse a complete tensor whose memory cannot be as it says.

    - `made`: whether it is the result of an operation.
    """
    dims, strides = tensor.dims or (), tensor.strides or ()
    if not dims or tensor.data_type is None:
        _refuse(tensor, f"has no {'data type' if dims else 'dims'}")
    if math.prod(dims) > _MOST or sum(a * b for a, b in zip(dims, strides, strict=True)) > _MOST:
        _refuse(tensor, f"strides {strides}: it has more elements than 64 bits can count")
    if tensor.virtual and tensor.by_value:
        _refuse(tensor, "cannot be both virtual and by value")
    if tensor.by_value and any(size != 1 for size in dims):
        _refuse(tensor, "is passed by value, so it can only be one number")
    if tensor.by_value and made:
        _refuse(tensor, "is a result, which cannot be passed by value")
    if tensor.scratch and (tensor.virtual or tensor.by_value):
        _refuse(tensor, "lies in the workspace, and can neither be virtual nor by value")
    if tensor.scratch and (tensor.vector_count > 1 or tensor.ragged_offset is not None):
        _refuse(tensor, "lies in the workspace, and has neither vectors nor a ragged_offset")
    if tensor.scratch and has_gaps(dims, strides):
        _refuse(tensor, f"lies in the workspace without gaps, so strides {strides} do not fit")
    if isinstance(tensor.value, (tuple, list)) and len(tensor.value) != math.prod(dims):
        _refuse(tensor, f"has {math.prod(dims)} elements, but {len(tensor.value)} values")
    if tensor.alignment < 1 or tensor.alignment & (tensor.alignment - 1):
        _refuse(tensor, f"alignment {tensor.alignment} is no power of two")
    if tensor.vector_count > 1 and tensor.vector_dimension is None:
        _refuse(tensor, "vector_count without vector_dimension")
    if tensor.vector_dimension is not None and not 0 <= tensor.vector_dimension < len(dims):
        _refuse(tensor, f"vector_dimension {tensor.vector_dimension} is none of its dimensions")


def check_number(place: str, value: Any) -> None:
    """Refuse what is neither a number that fits in 64 bits nor a C variable."""
    if isinstance(value, ctypes._SimpleCData) and isinstance(value.value, (int, float)):
        return
    is_number = isinstance(value, numbers.Real) or (
        isinstance(value, np.generic) and value.dtype.kind not in "cSUOMm"
    )
    if not is_number or isinstance(value, CudnnEnum):
        raise TypeError(f"{place}: expected a number, got {described(value)}")
    if isinstance(value, (int, Fraction)) and not -(1 << 64) < value < 1 << 64:
        raise ValueError(f"{place}: a number of more than 64 bits")


def integer(place: str, value: Any) -> int:
    """An int of 64 bits."""
    number = arguments.integer(place, value)
    if not -_MOST <= number <= _MOST:
        raise ValueError(f"{place}: {number} has more than 64 bits")
    return number


def _sizes(place: str, values: Any, least: int) -> tuple[int, ...]:
    if not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, (str, bytes)):
        raise TypeError(f"{place}: expected ints, got {described(values)}")
    sizes = tuple(integer(f"{place}[{i}]", each) for i, each in enumerate(values))
    if not sizes:
        raise ValueError(f"{place}: expected at least one, got none")
    if min(sizes) < least:
        wanted = "positive" if least else "at least 0"
        raise ValueError(f"{place} must be {wanted}, got {sizes}")
    return sizes


def _check_type(place: str, value: Any, wanted: Any) -> None:
    if not isinstance(value, wanted):
        first = wanted[0] if isinstance(wanted, tuple) else wanted
        raise TypeError(f"{place}: expected a {first.__name__}, got {described(value)}")


def _check_value(tensor: Tensor, place: str) -> None:
    if not tensor.by_value and not tensor.scratch:
        raise ValueError(f"{place}: has a value, but is neither by_value nor scratch")
    several = isinstance(tensor.value, (tuple, list)) and tensor.scratch
    for each in tensor.value if several else [tensor.value]:
        check_number(f"{place}: value", each)


def _refuse(tensor: Tensor, reason: str) -> NoReturn:
    raise ValueError(f"{tensor!r} {reason}")


_CTYPES: dict[Type, Any] = {
    Type.CUDNN_TYPE_INT64: ctypes.c_int64,
    Type.CUDNN_TYPE_INT32: ctypes.c_int32,
    Type.CUDNN_TYPE_FLOAT: ctypes.c_double,
    Type.CUDNN_TYPE_DOUBLE: ctypes.c_double,
}


def check_node(node: Any) -> None:
    """Refuse a node whose operands, results or options are not those of its kind."""
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

    - `place`: where the value stands, for the message.
    """
    own = kind.own_options.get(option)
    if own is not None:
        _check_own_option(own, value, place)
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
            if not isinstance(each, numbers.Rational) or isinstance(each, bool):
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


def _check_own_option(wanted: Any, value: Any, place: str) -> None:
    """`wanted` is a type, or a tuple of any number of one."""
    if get_origin(wanted) is tuple:
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{place}: expected a list, got {described(value)}")
        for i, each in enumerate(value):
            _check_own_option(get_args(wanted)[0], each, f"{place}[{i}]")
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


def check_fields(tensors: Sequence[Tensor], nodes: Sequence[Node]) -> None:
    """Refuse tensors and nodes with contents that they cannot have, each by itself."""
    for tensor in tensors:
        check_tensor(tensor)
    own = {id(tensor) for tensor in tensors}
    for node in nodes:
        check_node(node)
        for each in (node, *node.inner):
            for port, value in (*each.inputs.items(), *each.outputs.items()):
                for tensor in value if isinstance(value, (list, tuple)) else [value]:
                    if id(tensor) not in own:
                        node.refuse(f"{port} {tensor!r} is of another graph")
    for tensor in tensors:
        offset = tensor.ragged_offset
        if offset is not None and id(offset) not in own:
            raise ValueError(f"{tensor!r}: its ragged_offset {offset!r} is of another graph")


def in_order(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, each after those whose results it uses.

    Raises ValueError if a tensor is the result of two nodes, or nodes need each other's results.
    """
    maker: dict[int, Node] = {}
    for node in nodes:
        for tensor in node.results:
            other = maker.setdefault(id(tensor), node)
            if other is not node:
                raise ValueError(f"{tensor!r} is the result of both {other} and {node}")
    ordered: list[Node] = []
    done: set[int] = set()
    open_nodes: set[int] = set()
    for first in nodes:
        # What is being visited, each with its operands that have not been looked at yet; a list
        # rather than recursion, as graphs may be longer than Python's stack.
        path = [(first, first.operands)] if id(first) not in done else []
        open_nodes.add(id(first))
        while path:
            node, operands = path[-1]
            for tensor in operands:
                before = maker.get(id(tensor))
                if before is None or id(before) in done:
                    continue
                if id(before) in open_nodes:
                    _refuse_circle([each for each, _ in path], before)
                open_nodes.add(id(before))
                path.append((before, before.operands))
                break
            else:
                done.add(id(node))
                ordered.append(node)
                path.pop()
    return ordered


def _refuse_circle(path: Sequence[Node], node: Node) -> NoReturn:
    start = next(index for index, each in enumerate(path) if each is node)
    circle = " -> ".join(str(each) for each in reversed((*path[start:], node)))
    raise ValueError(f"the operations go in a circle: {circle}")


def check_tensors(tensors: Sequence[Tensor], nodes: Sequence[Node]) -> None:
    """Refuse tensors that no operation uses or makes; some results become outputs then."""
    if not nodes:
        raise ValueError("the graph has no operations")
    used = {id(t) for node in nodes for each in (node, *node.inner) for t in each.operands}
    subgraphs = [each for node in nodes for each in node.subgraphs.values()]
    inputs = {id(each.input) for each in subgraphs}
    used |= inputs | {id(each.output) for each in subgraphs}
    used |= {id(each.ragged_offset) for each in tensors if each.ragged_offset is not None}
    every = [each for node in nodes for each in (node, *node.inner)]
    makers = {id(tensor): node for node in every for tensor in node.outputs.values()}
    for tensor in tensors:
        if id(tensor) in makers:
            node = makers[id(tensor)]
            port = next(port for port, each in node.outputs.items() if each is tensor)
            if id(tensor) not in used and port in node.kind.by_default:
                tensor.virtual = False
            idle = node.may_go_unused or port in node.kind.unread
            if tensor.virtual and id(tensor) not in used and not idle:
                node.refuse(
                    f"its result {port} {tensor.name!r} is neither used nor an output: "
                    "call its set_output()"
                )
        elif id(tensor) not in used:
            raise ValueError(f"{tensor!r} is used by no operation")
        elif tensor.virtual and id(tensor) not in inputs:
            raise ValueError(f"{tensor!r} is virtual, but no operation makes it")


def check_results(tensors: Sequence[Tensor], nodes: Sequence[Node]) -> None:
    """Refuse tensors whose properties contradict each other, once they are complete."""
    results = {id(tensor) for node in nodes for tensor in node.results}
    for tensor in tensors:
        check_memory(tensor, id(tensor) in results)
        if tensor.ragged_offset is not None and tensor.ragged_offset.data_type is not None:
            name = data_type_name(tensor.ragged_offset.data_type)
            if name not in ("int32", "int64"):
                raise ValueError(f"{tensor!r}: its ragged_offset is {name}, not int32 or int64")


def check_subgraphs(node: Node) -> None:
    """Refuse a function of the user whose result has other dims than what it was called with."""
    for name, each in node.subgraphs.items():
        if each.output.dims != each.input.dims:
            node.refuse(
                f"{name} must return a tensor of dims {each.input.dims}, got "
                f"{each.output.name!r} {each.output.dims}"
            )


class DataTypes(NamedTuple):
    """The defaults of a graph: for tensors with memory, for virtual ones, for computations."""

    io: cudnnDataType_t | None
    intermediate: cudnnDataType_t
    compute: cudnnDataType_t

    def of(self, tensor: Tensor) -> cudnnDataType_t:
        """The data type of a tensor that has none."""
        if tensor.by_value:
            return self.compute
        chosen = self.intermediate if tensor.virtual else self.io
        if chosen is None:
            raise ValueError(
                f"tensor {tensor.name!r} has no data type: give it one, or give the graph an "
                "io_data_type"
            )
        return chosen


def complete_offset(tensor: Tensor) -> None:
    """Fill in a tensor that is the `ragged_offset` of another one, and perhaps no operand.

    Raises ValueError if it has no dims.
    """
    if tensor.dims is None:
        raise ValueError(f"{tensor!r} is a ragged_offset without dims")
    if tensor.strides is None:
        tensor.strides = packed(tensor.dims)
    if tensor.data_type is None:
        tensor.data_type = cudnnDataType_t.CUDNN_DATA_INT32


def infer_node(node: Node, data_types: DataTypes) -> None:
    """Fill in the results of one node whose operands are complete.

    Raises ValueError if operands do not fit together, or a result that was given dims does not fit
    them.
    """
    rank = max((tensor.rank for tensor in node.operands), default=1) or 1
    for tensor in node.operands:
        if tensor.dims is None and not tensor.by_value:
            node.refuse(
                f"its operand {tensor.name!r} has no dims; if it is a result of another graph, "
                "validate that one first"
            )
        if tensor.dims is None:
            tensor.dims = (1,) * rank
        if tensor.strides is None:
            tensor.strides = packed(tensor.dims)
        if tensor.data_type is None:
            tensor.data_type = data_types.of(tensor)
    for port in node.transposed & node.inputs.keys():
        _check_turned(node, port, node.inputs[port])
    for port, result in node.kind.infer(node).items():
        if port in node.outputs:
            _fill(node, port, node.outputs[port], result, data_types)
        elif port in node.subgraphs:
            _fill(node, port, node.subgraphs[port].input, result, data_types)


def _fill(node: Node, port: str, tensor: Tensor, result: Result, data_types: DataTypes) -> None:
    if tensor.dims is None:
        if result.dims is None:
            node.refuse(
                f"its operands do not determine the dims of {port} {tensor.name!r}: give them, "
                f"for instance by set_output(dims=…)"
            )
        tensor.dims = result.dims
    elif result.dims is not None and tensor.dims != result.dims:
        node.refuse(f"{port} {tensor.name!r} is {tensor.dims}, but the operands give {result.dims}")
    if not tensor.dims or min(tensor.dims) < 1:
        node.refuse(f"{port} {tensor.name!r} would be {tensor.dims}: nothing is left of it")
    if result.check is not None:
        result.check(tensor.dims)
    if port in node.transposed:
        _check_turned(node, port, tensor)
    if tensor.strides is None:
        like = result.like
        if result.strides is not None:
            tensor.strides = result.strides
        elif like is None or like.dims is None or like.strides is None:
            tensor.strides = packed(tensor.dims)
        else:
            tensor.strides = packed_like(tensor.dims, like.dims, like.strides)
    if len(tensor.strides) != len(tensor.dims):
        node.refuse(f"{port} {tensor.name!r} has dims {tensor.dims}, but strides {tensor.strides}")
    # Of packed sequences only the ragged offset says where each begins.
    apart = tensor.virtual or tensor.ragged_offset is not None
    if not apart and overlapping(tensor.dims, tensor.strides):
        node.refuse(
            f"strides {tensor.strides} let elements of its result {port} {tensor.name!r} "
            f"{tensor.dims} overlap"
        )
    if tensor.data_type is None:
        if result.data_type == "compute":
            own = node.compute_data_type
            tensor.data_type = data_types.compute if own is None else own
        elif result.data_type is not None:
            tensor.data_type = result.data_type
        else:
            tensor.data_type = data_types.of(tensor)


def _check_turned(node: Node, port: str, tensor: Tensor) -> None:
    if tensor.rank < 2:
        node.refuse(f"{port} {tensor.name!r} {tensor.dims} has no two dimensions to exchange")


def number_tensors(tensors: Iterable[Tensor]) -> None:
    """Give a uid to each tensor that has none.

    Raises ValueError if two tensors have the same uid.
    """
    owner: dict[int, Tensor] = {}
    for tensor in tensors:
        if tensor.uid is not None:
            other = owner.setdefault(tensor.uid, tensor)
            if other is not tensor:
                raise ValueError(
                    f"{other.name!r} and {tensor.name!r} both have uid {tensor.uid}; if they come "
                    "from other graphs, give one of them another before those are validated"
                )
    free = (number for number in count(1) if number not in owner)
    for tensor in tensors:
        if tensor.uid is None:
            tensor.uid = next(free)
