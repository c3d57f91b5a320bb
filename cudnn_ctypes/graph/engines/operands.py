"""Numbers for the operands of a graph, on the host or a GPU: random, hurtful, or with a meaning."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ...dtypes import data_type_name, element_bits, numpy_dtype
from ...raw import cudnnDataType_t as Type
from ...raw.values import described
from ...runtime import DeviceBuffer, as_tensor
from ..run.tensor_memory import find_tensor, host_value, memory_bytes

if TYPE_CHECKING:
    from ...handle import Handle
    from ..describe.node import Node
    from ..describe.tensor import Tensor
    from ..lower.expand.expansion import Expansion


_BLOCK = 1 << 20  # random elements; longer tensors repeat them
# Lengths, offsets, page tables, seeds: a random one would be read as an address.
_MEANING = (Type.CUDNN_DATA_INT32, Type.CUDNN_DATA_INT64)


def random_memory(
    inputs: Collection[Tensor],
    outputs: Collection[Tensor],
    handle: Handle,
    own: Callable[[DeviceBuffer], DeviceBuffer],
) -> dict[Tensor, DeviceBuffer]:
    """Random numbers for inputs, memory as it comes for outputs.

    `own` is called with each buffer as soon as there is one, to close it at the end.

    Raises ValueError for inputs whose values decide what is computed: integers and numbers passed
    by value.
    """
    for tensor in inputs:
        if tensor.by_value:
            raise ValueError(f"tensor {tensor.name!r} is passed by value: give a number for it")
        _refuse_meaning(tensor)
    found: dict[Tensor, DeviceBuffer] = {}
    rng = np.random.default_rng(0)
    for tensor in (*inputs, *outputs):
        nbytes = memory_bytes(tensor)
        buffer = own(DeviceBuffer(nbytes, device=handle.device, stream=handle.stream))
        if tensor in inputs:
            assert tensor.data_type is not None
            contents = random_bytes(rng, tensor.data_type, nbytes)
            buffer.copy_from_host(contents, stream=handle.stream)
        found[tensor] = buffer
    return found


def _refuse_meaning(tensor: Tensor) -> None:
    if tensor.data_type in _MEANING:
        raise ValueError(
            f"tensor {tensor.name!r}: random {data_type_name(tensor.data_type)} numbers would have "
            "no meaning; give memory for it"
        )


def random_bytes(rng: np.random.Generator, data_type: Any, nbytes: int) -> NDArray[np.uint8]:
    """Numbers of a data type, none of them infinite or NaN.

    Normally distributed where the type is signed and floating, small where it is an integer, and
    powers of two up to one for scales of blocks.
    """
    bits = element_bits(data_type)
    count = min(-(-nbytes * 8 // bits), _BLOCK)
    if bits < 8:  # several in a byte; all patterns are finite numbers
        block = rng.integers(0, 256, -(-count * bits // 8), dtype=np.uint8)
    else:
        dtype = numpy_dtype(data_type)
        if dtype.kind in "iub":
            low = 0 if dtype.kind != "i" else -4
            values: NDArray[Any] = rng.integers(low, 2 if dtype.kind == "b" else 5, count)
        elif data_type == Type.CUDNN_DATA_FP8_E8M0:
            values = 2.0 ** rng.integers(-3, 1, count)
        else:
            values = rng.standard_normal(count)
        block = values.astype(dtype).view(np.uint8).ravel()
    return np.resize(block, nbytes)


def host_operands(graph: Any, memory: Mapping[Any, Any]) -> dict[int, Any]:
    """Bytes of arrays, and numbers passed by value, by unique id, for a validated graph.

    `memory` is as for ``Graph.execute``; arrays of NumPy too, of the tensor's dims and data type,
    or of the bytes of its memory. Memory for outputs is left out; addresses are refused.
    """
    outputs = {tensor.uid for tensor in graph.outputs}
    wanted = {tensor.uid: tensor for tensor in (*graph.inputs, *graph.outputs)}
    found: dict[int, Any] = {}
    for key, value in memory.items():
        tensor = find_tensor(key, wanted)
        if tensor.by_value:
            found[tensor.uid or 0] = value
        elif tensor.uid not in outputs:
            found[tensor.uid or 0] = _bytes(value, tensor)
    return found


def _bytes(value: Any, tensor: Tensor) -> NDArray[np.uint8]:
    if isinstance(value, np.ndarray):
        array: NDArray[Any] = value
    elif isinstance(value, DeviceBuffer):
        array = value.copy_to_host()
    elif isinstance(value, int):
        raise TypeError(
            f"memory: tensor {tensor.name!r}: workers need its contents: expected an array or a "
            f"tensor, got {described(value)}"
        )
    else:
        array = as_tensor(value).numpy()
    return _laid_out(array, tensor) if array.shape == tensor.dims else _as_it_is(array, tensor)


def _laid_out(array: NDArray[Any], tensor: Tensor) -> NDArray[np.uint8]:
    """The memory of a tensor with these elements."""
    assert tensor.data_type is not None
    assert tensor.strides is not None
    size = array.dtype.itemsize
    if 8 * size != element_bits(tensor.data_type) or tensor.vector_count != 1:
        return _as_it_is(array, tensor)
    if array.dtype != numpy_dtype(tensor.data_type):
        raise ValueError(
            f"memory: tensor {tensor.name!r} is of {data_type_name(tensor.data_type)}, and the "
            f"array of {array.dtype}"
        )
    contents = np.zeros(memory_bytes(tensor), np.uint8)
    strides = [stride * size for stride in tensor.strides]
    as_strided(contents.view(array.dtype), array.shape, strides)[...] = array
    return contents


def _as_it_is(array: NDArray[Any], tensor: Tensor) -> NDArray[np.uint8]:
    """The bytes of an array that stands for the memory itself, in whatever shape."""
    contents = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    wanted = memory_bytes(tensor)
    if contents.nbytes != wanted:
        raise ValueError(
            f"memory: tensor {tensor.name!r} has {wanted} bytes, and the array {contents.nbytes}"
        )
    return contents


Images = dict[int, NDArray[np.uint8]]
"""Bytes of tensors by unique id."""

_Fill = Callable[[np.random.Generator, int, np.dtype[Any]], NDArray[Any]]
_BETWEEN = 4096  # elements to a row that is made extreme
_POSITIVE = ("LOG", "SQRT", "RSQRT", "POW", "DIV", "RECIPROCAL", "MOD")
_NUMBER = 0.5  # passed by value where nothing else is known


def _ordinary(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return rng.uniform(-2, 2, count)


def _tails(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """One of two hundred numbers is some hundred times the others."""
    values = rng.standard_normal(count)
    return np.where(rng.random(count) < 1 / 200, 100 * values, values)


def _rows(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Parts of memory are all large, all zero or all the same; the others are ordinary."""
    values = rng.uniform(-2, 2, count)
    length = max(min(_BETWEEN, count // 16), 1)
    for place, factor in ((1, 50.0), (3, 0.0), (6, -50.0)):
        values[place * length : (place + 1) * length] *= factor
    values[8 * length : 9 * length] = 1.5
    return values


def _offset(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return 4 + rng.standard_normal(count) / 16  # sums of squares fit into float16


def _tiny(rng: np.random.Generator, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """One of four numbers is next to the smallest, or below the smallest normal one."""
    lowest = float(ml_dtypes.finfo(dtype).smallest_normal)  # type: ignore[no-untyped-call]
    values = rng.uniform(-2, 2, count)
    return np.where(rng.random(count) < 0.25, values * lowest, values)


KINDS: Mapping[str, _Fill] = {
    "ordinary": _ordinary,
    "tails": _tails,
    "rows": _rows,
    "offset": _offset,
    "tiny": _tiny,
}
"""Kinds of numbers, by name."""


def images(
    expansion: Expansion,
    nodes: Sequence[Node],
    kind: str,
    given: Mapping[int, Any],
    *,
    seed: int = 0,
) -> Images:
    """The bytes of every tensor with memory, or number passed by value; results are zero.

    - `nodes`: the user's.
    - `kind`: one of `KINDS`.
    - `given`: bytes and numbers by unique id, which are taken as they are.
    - `seed`: of the random numbers.

    Raises ValueError for an operand of integers without a known meaning, that is not given.
    """
    rng = np.random.default_rng(seed)
    meant = _meanings(nodes)
    written = {each.uid for each in results(expansion)}
    positive = any(_mode(node) in _POSITIVE for node in expansion.nodes)
    found: Images = {}
    for tensor in stored(expansion):
        uid, nbytes = tensor.uid or 0, memory_bytes(tensor)
        if tensor.by_value:
            number = tensor.value if tensor.value is not None else given.get(uid, _number(tensor))
            found[uid] = np.frombuffer(bytes(host_value(number, tensor)), np.uint8).copy()
        elif uid in given:
            found[uid] = np.ascontiguousarray(given[uid]).reshape(-1).view(np.uint8)
        elif tensor.value is not None:
            contents = np.asarray(tensor.value).astype(numpy_dtype(tensor.data_type))
            found[uid] = np.ascontiguousarray(contents).reshape(-1).view(np.uint8)
        elif tensor.scratch or (uid in written and not _accumulates(expansion, uid)):
            found[uid] = np.zeros(nbytes, np.uint8)
        elif uid in meant:
            values = meant[uid](rng).astype(numpy_dtype(tensor.data_type))
            found[uid] = _laid_out(values.reshape(tensor.dims or ()), tensor)
        else:
            found[uid] = _filled(rng, kind, tensor, nbytes, positive=positive)
    return found


def stored(expansion: Expansion) -> list[Tensor]:
    """The tensors that are more than between operations: memory, scratch memory and numbers."""
    used = {id(each) for node in expansion.nodes for each in (*node.operands, *node.results)}
    offsets = {
        id(each.ragged_offset) for each in expansion.tensors if each.ragged_offset is not None
    }
    return [
        each
        for each in expansion.tensors
        if not each.virtual and (id(each) in used or id(each) in offsets)
    ]


def results(expansion: Expansion) -> list[Tensor]:
    """The tensors with memory that the graph writes for its user."""
    found = {id(each): each for node in expansion.nodes for each in node.results}
    return [each for each in found.values() if not each.virtual and not each.scratch]


def _accumulates(expansion: Expansion, uid: int) -> bool:
    """Whether a result is added to what its memory holds."""
    return any(
        node.options.get("beta") and any(each.uid == uid for each in node.outputs.values())
        for node in expansion.nodes
    )


def _mode(node: Node) -> str:
    name = str(getattr(node.options.get("mode"), "name", ""))
    return name.removeprefix("CUDNN_POINTWISE_").removesuffix("_FWD")


def _number(tensor: Tensor) -> float:
    if tensor.data_type in _MEANING:
        raise ValueError(f"tensor {tensor.name!r} is passed by value: give a number for it")
    return _NUMBER


def _filled(
    rng: np.random.Generator, kind: str, tensor: Tensor, nbytes: int, *, positive: bool
) -> NDArray[np.uint8]:
    assert tensor.data_type is not None
    _refuse_meaning(tensor)
    bits = element_bits(tensor.data_type)
    dtype = numpy_dtype(tensor.data_type)
    if bits < 16 or dtype.kind in "iub":
        return random_bytes(rng, tensor.data_type, nbytes)
    values = KINDS[kind](rng, -(-nbytes * 8 // bits), dtype)
    if positive:
        values = np.abs(values) + 0.125
    if dtype.kind == "c":
        values = values + 1j * rng.permutation(values)
    return values.astype(dtype).view(np.uint8)[:nbytes]


# --- integers with a meaning ---------------------------------------------------------------------


def _meanings(nodes: Sequence[Node]) -> dict[int, Callable[[np.random.Generator], NDArray[Any]]]:
    """For tensors of integers, by unique id, a function that draws numbers which have a meaning."""
    found: dict[int, Callable[[np.random.Generator], NDArray[Any]]] = {}
    for node in nodes:
        for tensor in (*node.operands, *node.results):
            offset = tensor.ragged_offset
            if offset is not None:
                found[offset.uid or 0] = _offsets(tensor)
        for port, tensor in node.inputs.items():
            draw = None if isinstance(tensor, (list, tuple)) else _meaning(node, port, tensor)
            if draw is not None:
                found[tensor.uid or 0] = draw
    return found


def _meaning(
    node: Node, port: str, tensor: Tensor
) -> Callable[[np.random.Generator], NDArray[Any]] | None:
    dims = tensor.dims or ()
    if "q" in node.inputs and port.startswith("seq_len"):
        limit = _keys(node) if port.endswith("kv") else _dims(node, "q")[2]
        return lambda rng: rng.integers(1, limit + 1, dims)
    if "page_table" in port or port.startswith("paged_attention_"):
        side = port.removeprefix("page_table_").removeprefix("paged_attention_")[0]
        pages = _dims(node, "container" if "container" in node.inputs else side)[0]
        return lambda rng: rng.integers(0, pages, dims)
    if port.startswith(("scale_", "descale_")):  # of types of 8 bits
        return lambda rng: rng.uniform(0.5, 1.5, dims)
    if node.kind.descriptor == "operation_rng":  # a seed or an offset
        return lambda rng: rng.integers(0, 1 << 16, dims)
    if port == "stats":  # logarithms of sums of exponentials
        return lambda rng: rng.uniform(3, 6, dims)
    if port in _OVERRIDES:
        operand, axis = _OVERRIDES[port]
        return lambda rng: rng.integers(1, node.dims(operand)[axis] + 1, dims)
    if node.kind.descriptor == "operation_pointwise" and tensor.data_type in _MEANING:
        return lambda rng: rng.integers(-6, 7, dims)
    if port == "index" and "window" in node.options:
        window = int(np.prod([int(each) for each in node.options["window"]]))
        return lambda rng: rng.integers(0, window, dims)
    return None


_OVERRIDES = {"m_override": ("A", -2), "n_override": ("B", -1), "k_override": ("A", -1)}


def _keys(node: Node) -> int:
    tables = [port for port in node.inputs if port.endswith("_table") or "page_table" in port]
    return _dims(node, "k")[2] * (_dims(node, tables[0])[2] if tables else 1)


def _dims(node: Node, port: str) -> tuple[int, ...]:
    return tuple(node.inputs[port].dims)


def _offsets(tensor: Tensor) -> Callable[[np.random.Generator], NDArray[Any]]:
    """Where batches begin that are all as long as they can be."""
    batch, *others = tensor.dims or (1,)
    step = int(np.prod(others)) // tensor.ragged_offset_multiplier
    return lambda rng: np.arange(batch + 1) * step
