"""Filling in what the user left open: shapes, strides, data types, uids."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from ...raw import cudnnDataType_t
from ...raw.strides import overlapping, packed, packed_like
from .node import Node, Result
from .tensor import Tensor


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
