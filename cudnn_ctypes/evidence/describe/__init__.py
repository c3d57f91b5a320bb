"""``describe``: an explanation of an object's contents, in words and as a picture.

>>> from cudnn_ctypes import TensorDescriptor
>>> print(describe(TensorDescriptor((1, 3, 4, 5), "float16", layout="NHWC")))
TensorDescriptor: a tensor of 4 dimensions
  dims (n, c, h, w) = (1, 3, 4, 5): 60 elements
  data type float16: 2 bytes an element
  strides (60, 1, 15, 3): one step moves on by 60 elements along n, 1 along c, 15 along h, 3 along w
  layout NHWC: the channels of a pixel lie together
  120 bytes from the first element to the last, without gaps
  element [n, c, h, w] is at byte 2 * (60 * n + c + 15 * h + 3 * w)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ...raw import cudnnBackendDescriptor_t, cudnnHandle_t, descriptors, live, records
from ...raw.ctypes_support import CudnnEnum, OpaquePointer
from . import operations, tensors
from .description import Description, Section
from .tensors import memory_words

__all__ = [
    "Description",
    "Section",
    "describe",
]


def describe(item: Any, *, x: Any = None, w: Any = None, handle: Any = None) -> Description:
    """Explain an object's contents in words and, for many objects, as a picture.

    It works without a GPU, and reads no GPU memory.

    Parameters
    ----------
    item
        A descriptor of layer 1 or 2, a backend descriptor, a handle; a tensor of this package, of
        PyTorch, NumPy and others, or a buffer; a plan, an engine or its config; a graph of layer 3
        or of the front end, one of its nodes or tensors, or an explanation of it; an `RNN`, its
        weights; a function, an enum or an enumerator of ``raw``.
    x, w : tensor, descriptor or shape, optional
        For a convolution or a pooling: its operands. The size of the output is computed with their
        shapes; without them, with an example's shapes.
    handle : Handle, optional
        With an RNN descriptor: ask cuDNN for the places of the weights, which allocates a weight
        space. A dropout descriptor of layer 1 can be read only with a handle.

    Returns
    -------
    Description
        ``print`` shows words. A notebook also shows the picture, which ``svg()`` returns and
        ``save(path)`` writes: a tensor's index map, the window of a convolution or a pooling, a
        weight space, a graph with its engine's frame. ``slider()`` has pictures in steps.

    Raises
    ------
    TypeError
        If `item` is an object of an unknown kind.

    Examples
    --------
    >>> from cudnn_ctypes import ConvolutionDescriptor
    >>> conv = ConvolutionDescriptor(padding=1, stride=2)
    >>> print(describe(conv, x=(1, 3, 8, 8), w=(16, 3, 3, 3)).sections[1].lines[-2])
    x (1, 3, 8, 8) and w (16, 3, 3, 3) give y (1, 16, 4, 4)
    """
    if getattr(item, "closed", False) is True:
        return Description(f"{type(item).__name__}: closed; its C object or memory is gone")
    found = (
        _name_of_c(item)
        or _handle(item)
        or _c_object(item, x, w, handle)
        or _layer_2(item, x)
        or _layer_3(item)
        or _sequence(item)
        or memory_words(item)
        or _printed(item)
    )
    if found is None:
        raise TypeError(
            f"expected a descriptor, a tensor, a plan, a graph or another object of this package, "
            f"got {item!r} ({type(item).__name__})"
        )
    return found


def _name_of_c(item: Any) -> Description | None:
    """The description of a function, enum or enumerator of layer 1; None for other objects."""
    from ...raw.describe import documentation
    from ...raw.function import Function

    is_enum = isinstance(item, type) and issubclass(item, CudnnEnum)
    if isinstance(item, (Function, CudnnEnum)) or is_enum:
        name = item.name if isinstance(item, CudnnEnum) else item.__name__
        return Description(f"{name}: a name of C", (Section(text=documentation(name)),))
    return None


# --- C objects -----------------------------------------------------------------------------------


def _handle(item: Any) -> Description | None:
    from ...handle import Handle

    if isinstance(item, Handle):
        stream = item.stream_pointer
        where = "the reference device: calls are carried out in NumPy"
        lines = (
            f"on {where if item.on_reference_device else item.device.name}",
            f"cuDNN {'.'.join(map(str, item.version))}",
            f"stream {stream:#x}" if stream else "stream 0, the legacy default stream",
        )
        return Description("Handle: a cuDNN context on one device", (Section(lines=lines),))
    if isinstance(item, cudnnHandle_t) and item:
        stream = records.record(item)
        said = "which C does not tell" if stream is None else f"{stream:#x}"
        facts = Section(lines=(f"address {item.value:#x}", f"stream {said}"))
        return Description("cudnnHandle_t: a cuDNN context on one device", (facts,))
    return None


Words = Callable[[str, Any], Description]

_BY_RECORD: dict[type, Words] = {
    descriptors.Tensor: tensors.tensor_words,
    descriptors.Filter: tensors.filter_words,
    descriptors.SequenceData: tensors.sequence_words,
    descriptors.RNNData: operations.rnn_data_words,
    descriptors.Dropout: operations.dropout_words,
    descriptors.ConstantPack: operations.fused_words,
    descriptors.VariantPack: operations.fused_words,
    descriptors.FusedPlan: operations.fused_words,
    **dict.fromkeys(operations.KINDS, operations.fields_words),
}


def _c_object(item: Any, x: Any, w: Any, handle: Any) -> Description | None:
    """The description of a descriptor by its record, titled by its class; else None."""
    pointer = getattr(item, "_as_parameter_", item)
    if not isinstance(pointer, OpaquePointer):
        return None
    name = type(item).__name__
    if not pointer:
        state = "destroyed" if live.is_destroyed(pointer) else "NULL, not created yet"
        return Description(f"{name}: {state}")
    if isinstance(pointer, cudnnBackendDescriptor_t):
        return _backend(item)
    values = records.record(item, *(() if handle is None or item is not pointer else (handle,)))
    if values is None:
        return Description(f"{name}: {_untold(type(pointer))}")
    if isinstance(values, descriptors.Convolution):
        return operations.convolution_words(name, values, x, w)
    if isinstance(values, descriptors.Pooling):
        return operations.pooling_words(name, values, x)
    if isinstance(values, descriptors.RNN):
        return _rnn(item, name, values, handle)
    if isinstance(values, descriptors.Dropout):
        size = getattr(getattr(item, "_states", None), "nbytes", None)
        return operations.dropout_words(name, values, size)
    return _BY_RECORD[type(values)](name, values) if type(values) in _BY_RECORD else None


def _untold(kind: type[OpaquePointer]) -> str:
    """The reason why a descriptor of a kind has no record."""
    if kind._must_be_set:
        return "created, but never set"
    if kind.__name__ == "cudnnDropoutDescriptor_t":
        return "of a dropout cuDNN tells only with a handle: describe(descriptor, handle=handle)"
    return "cuDNN does not tell what it holds"


def _backend(item: Any) -> Description | None:
    from .graphs import backend_words, raw_backend_words

    return backend_words(item) or raw_backend_words(item)


def _rnn(item: Any, name: str, rnn: descriptors.RNN, handle: Any) -> Description:
    from ...legacy import RNNDescriptor, RNNWeights

    if handle is None or not isinstance(item, RNNDescriptor):
        return operations.rnn_words(name, rnn)
    weights = RNNWeights(handle, item)
    try:
        return operations.rnn_words(name, rnn, weights)
    finally:
        weights.close()


def _layer_2(item: Any, x: Any) -> Description | None:
    """The description of an object of layer 2 that is no descriptor; else None."""
    if not type(item).__module__.startswith("cudnn_ctypes.legacy"):
        return None
    from ...legacy import RNN as Network
    from ...legacy import RNNWeights
    from ...legacy.convolution_algorithms import ConvolutionAlgorithms

    if isinstance(item, RNNWeights):
        return operations.weights_words(item)
    if isinstance(item, Network):
        words = describe(item.rnn)
        sequences = describe(item.x_desc)
        x_lines = (sequences.title, *sequences.sections[0].lines)
        sections = (*words.sections[:1], Section("Sequences x", x_lines), *words.sections[1:])
        return Description(words.title.replace("RNNDescriptor", "RNN"), sections, words.picture)
    if isinstance(item, ConvolutionAlgorithms):
        named = {name.removeprefix("d"): item._desc(name) for name in item._names}
        words = describe(item.descriptors[2], x=named["x"], w=named["w"])
        title = words.title.replace("ConvolutionDescriptor", type(item).__name__, 1)
        return Description(title, words.sections, words.picture)
    return None


def _layer_3(item: Any) -> Description | None:
    if not type(item).__module__.startswith(("cudnn_ctypes.graph", "cudnn_ctypes.frontend")):
        return None
    from ...frontend.tensors import Node as FrontNode
    from ...graph.describe.description import PictureMethods
    from ...graph.describe.node import Node
    from ...graph.describe.tensor import Tensor as GraphTensor
    from .graphs import backend_words, front_node_words, graph_words, node_words, tensor_words

    if isinstance(item, GraphTensor):
        return tensor_words(item)
    if isinstance(item, Node):
        return node_words(item)
    if isinstance(item, FrontNode):
        return front_node_words(item)
    if isinstance(item, PictureMethods):
        return graph_words(item)
    return backend_words(item)


def _sequence(item: Any) -> Description | None:
    """The description of graphs, or of parts that have graphs; else None."""
    if not isinstance(item, Sequence) or isinstance(item, (str, bytes)) or not item:
        return None
    from ...graph.describe.description import PictureMethods
    from .graphs import sequence_words

    graphs = [getattr(each, "graph", each) for each in item]
    are_graphs = all(isinstance(each, PictureMethods) for each in graphs)
    return sequence_words(graphs) if are_graphs else None


def _printed(item: Any) -> Description | None:
    """The description of another object of this package (tables, explanations) by its ``str``."""
    cls = type(item)
    if not cls.__module__.startswith("cudnn_ctypes."):
        return None
    text = str(item)
    if text.startswith(f"<{cls.__module__}."):  # a class without a repr of its own
        text = ""
    what = (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ").rstrip(".")
    return Description(f"{cls.__name__}: {what}", (Section(text=text.strip("\n")),))
