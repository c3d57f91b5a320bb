"""Recurrent networks of ``cupy.cudnn``."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import addressof, c_void_p
from typing import Any, NamedTuple

import numpy as np

from .... import raw
from .descriptors import (
    Descriptor,
    Session,
    address_of,
    contiguous,
    create_filter_descriptor,
    create_tensor_nd_descriptor,
    get_data_type,
    get_handle,
    size_of,
    tensor,
)
from .layers import DropoutStates
from .low_level import low

__all__ = [
    "create_rnn_descriptor",
    "get_rnn_lin_layer_bias_params",
    "get_rnn_lin_layer_matrix_params",
    "network_of",
    "rnn_backward_data",
    "rnn_backward_data_ex",
    "rnn_backward_weights",
    "rnn_backward_weights_ex",
    "rnn_forward_inference",
    "rnn_forward_inference_ex",
    "rnn_forward_training",
    "rnn_forward_training_ex",
]


_LINEAR, _STANDARD = int(raw.CUDNN_LINEAR_INPUT), int(raw.CUDNN_RNN_ALGO_STANDARD)
_PADDED = int(raw.CUDNN_RNN_PADDED_IO_ENABLED)
_UNPACKED = int(raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED)


def create_rnn_descriptor(
    hidden_size: int,
    num_layers: int,
    dropout_desc: Descriptor,
    input_mode: int,
    direction: int,
    mode: int,
    data_type: int,
    algo: int | None = None,
) -> Descriptor:
    """A descriptor of a recurrent network."""
    descriptor = Descriptor(low.createRNNDescriptor(), low.destroyRNNDescriptor)
    low.setRNNDescriptor_v6(
        get_handle(),
        descriptor.value,
        hidden_size,
        num_layers,
        dropout_desc.value,
        *(input_mode, direction, mode, _STANDARD if algo is None else algo, data_type),
    )
    return descriptor


def get_rnn_lin_layer_matrix_params(
    handle: int,
    rnn_desc: Descriptor,
    layer: int,
    x_desc: Descriptor,
    w_desc: Descriptor,
    w: Any,
    lin_layer_id: int,
) -> Any:
    """The part of the one-dimensional `w` with a matrix."""
    arguments = handle, rnn_desc.value, layer, x_desc.value, w_desc.value
    return _part(low.getRNNLinLayerMatrixParams, arguments, w, lin_layer_id)


def get_rnn_lin_layer_bias_params(
    handle: int,
    rnn_desc: Descriptor,
    layer: int,
    x_desc: Descriptor,
    w_desc: Descriptor,
    w: Any,
    lin_layer_id: int,
) -> Any:
    """The part of the one-dimensional `w` with a bias."""
    arguments = handle, rnn_desc.value, layer, x_desc.value, w_desc.value
    return _part(low.getRNNLinLayerBiasParams, arguments, w, lin_layer_id)


def _part(get: Any, arguments: tuple[int, ...], w: Any, lin_layer_id: int) -> Any:
    address = c_void_p()
    part = Descriptor(low.createFilterDescriptor(), low.destroyFilterDescriptor)
    with Session(w) as s:
        begin = s.read(w, "w")
        get(*arguments, begin, lin_layer_id, part.value, addressof(address))
    *_, dims = low.getFilterNdDescriptor(part.value, 3)
    offset = ((address.value or begin) - begin) // np.dtype(w.dtype).itemsize
    return w[offset : offset + math.prod(dims)]


# -- sequences ---------------------------------------------------------------------------------


class _Steps:
    """Descriptors of time steps, and the address of their array."""

    def __init__(self, batches: Any, size: int, dtype: Any) -> None:
        self._descriptors = [tensor((int(batch), size, 1), dtype) for batch in batches]
        self._array = (c_void_p * len(self._descriptors))(
            *(each.value for each in self._descriptors)
        )

    @property
    def value(self) -> int:
        return addressof(self._array)


def _sequences(array: Any, lengths: Any, padded: bool) -> Any:
    """The descriptors of packed sequences, one per step, or one descriptor of padded sequences."""
    if not padded:
        return _Steps(lengths, array.shape[-1], array.dtype)
    descriptor = Descriptor(low.createRNNDataDescriptor(), low.destroyRNNDataDescriptor)
    low.setRNNDataDescriptor(
        *(descriptor.value, get_data_type(array.dtype), _UNPACKED, *array.shape),
        *(np.ascontiguousarray(lengths, np.int32), None),
    )
    return descriptor


class Network(NamedTuple):
    """A network on sequences, for one call."""

    session: Session
    desc: Descriptor
    padded: bool
    steps: int
    every_step: _Steps
    lengths: Any

    @property
    def begin(self) -> tuple[int, ...]:
        """The first arguments of a pass."""
        first = get_handle(), self.desc.value
        return first if self.padded else (*first, self.steps)

    @property
    def workspace(self) -> tuple[int, int]:
        size = low.getRNNWorkspaceSize(
            get_handle(), self.desc.value, self.steps, self.every_step.value
        )
        return self.session.workspace(size), size

    def reserve_space(self) -> Any:
        """The reserve space, shared by the passes of a training step."""
        size = low.getRNNTrainingReserveSize(
            get_handle(), self.desc.value, self.steps, self.every_step.value
        )
        return self.session.room(size)

    def sequences(self, array: Any, *, written: bool = False) -> tuple[int, int]:
        """The descriptor and the address of sequences."""
        desc = _sequences(array, self.lengths, self.padded)
        self.session.callback(lambda: desc)  # as long as the session
        use = self.session.write if written else self.session.read
        return desc.value, use(array)

    def state(self, array: Any, *, written: bool = False) -> tuple[int, int]:
        """The descriptor and the address of a state; NULLs for None and for an empty one."""
        if array is None or not array.size:
            return 0, 0
        desc = create_tensor_nd_descriptor(array)
        self.session.callback(lambda: desc)
        use = self.session.write if written else self.session.read
        return desc.value, use(array)

    def weights(self, array: Any, *, written: bool = False) -> tuple[int, int]:
        """The descriptor and the address of the weights."""
        desc = create_filter_descriptor(array)
        self.session.callback(lambda: desc)
        use = self.session.write if written else self.session.read
        return desc.value, use(array)

    def function(self, name: str) -> Any:
        return getattr(low, f"RNN{name}{'Ex' if self.padded else ''}")


@contextmanager
def network_of(
    states: DropoutStates, direction: int, mode: int, hx: Any, xs: Any, lengths: Any, padded: bool
) -> Iterator[Network]:
    """The network that reads `xs`, inside ``with``."""
    directions = 2 if direction == raw.CUDNN_BIDIRECTIONAL else 1
    layers, data_type = hx.shape[0] // directions, get_data_type(xs.dtype)
    about = states._desc, _LINEAR, direction, mode, data_type
    desc = create_rnn_descriptor(hx.shape[2], layers, *about)
    batches = [xs.shape[1]] * xs.shape[0] if padded else lengths
    every_step = _Steps(batches, xs.shape[-1], xs.dtype)
    if padded:
        low.setRNNPaddingMode(desc.value, _PADDED)
    with Session(xs) as session:
        yield Network(session, desc, padded, len(batches), every_step, lengths)


def _output_shape(direction: int, hx: Any, xs: Any) -> tuple[int, ...]:
    directions = 2 if direction == raw.CUDNN_BIDIRECTIONAL else 1
    return (*xs.shape[:-1], directions * hx.shape[2])


def _like(session: Session, array: Any, xs: Any) -> Any:
    """A new array like a state; an empty one for None."""
    return session.empty((0,) if array is None else array.shape, xs.dtype)


def _forward(
    states: DropoutStates,
    direction_mode: int,
    rnn_mode: int,
    hx: Any,
    cx: Any,
    w: Any,
    xs: Any,
    lengths: Any,
    *,
    padded: bool,
    training: bool,
) -> tuple[Any, ...]:
    hx, w, xs = contiguous(hx, "hx"), contiguous(w, "w"), contiguous(xs, "xs")
    cx = None if cx is None else contiguous(cx, "cx")
    with network_of(states, direction_mode, rnn_mode, hx, xs, lengths, padded) as network:
        s = network.session
        ys = s.empty(_output_shape(direction_mode, hx, xs), xs.dtype)
        hy, cy = _like(s, hx, xs), _like(s, cx, xs)
        reserve_space = network.reserve_space() if training else None
        network.function("ForwardTraining" if training else "ForwardInference")(
            *network.begin,
            *network.sequences(xs),
            *network.state(hx),
            *network.state(cx),
            *network.weights(w),
            *network.sequences(ys, written=True),
            *network.state(hy, written=True),
            *network.state(cy, written=True),
            *((0,) * 8 if padded else ()),
            *network.workspace,
            *((address_of(reserve_space), size_of(reserve_space)) if training else ()),
        )
    return (reserve_space, hy, cy, ys) if training else (hy, cy, ys)


def _backward_data(
    states: DropoutStates,
    direction_mode: int,
    rnn_mode: int,
    hx: Any,
    cx: Any,
    w: Any,
    xs: Any,
    ys: Any,
    reserve_space: Any,
    dhy: Any,
    dcy: Any,
    dys: Any,
    lengths: Any,
    *,
    padded: bool,
) -> tuple[Any, Any, Any]:
    hx, w, xs, ys = contiguous(hx, "hx"), contiguous(w, "w"), contiguous(xs), contiguous(ys)
    dhy, dys = contiguous(dhy, "dhy"), contiguous(dys, "dys")
    cx = None if cx is None else contiguous(cx, "cx")
    dcy = None if cx is None or dcy is None else contiguous(dcy, "dcy")
    with network_of(states, direction_mode, rnn_mode, hx, xs, lengths, padded) as network:
        s = network.session
        dxs, dhx, dcx = s.empty(xs.shape, xs.dtype), _like(s, hx, xs), _like(s, cx, xs)
        network.function("BackwardData")(
            *network.begin,
            *network.sequences(ys),
            *network.sequences(dys),
            *((0, 0) if padded else ()),
            *network.state(dhy),
            *network.state(dcy),
            *network.weights(w),
            *network.state(hx),
            *network.state(cx),
            *network.sequences(dxs, written=True),
            *network.state(dhx, written=True),
            *network.state(dcx, written=True),
            *((0, 0) if padded else ()),
            *network.workspace,
            *(address_of(reserve_space), size_of(reserve_space)),
        )
    return dhx, dcx, dxs


def _backward_weights(
    states: DropoutStates,
    direction_mode: int,
    rnn_mode: int,
    xs: Any,
    hx: Any,
    ys: Any,
    w: Any,
    reserve_space: Any,
    lengths: Any,
    *,
    padded: bool,
) -> Any:
    xs, hx, ys = contiguous(xs, "xs"), contiguous(hx, "hx"), contiguous(ys, "ys")
    with network_of(states, direction_mode, rnn_mode, hx, xs, lengths, padded) as network:
        dw = network.session.zeros(w.shape, w.dtype)
        network.function("BackwardWeights")(
            *network.begin,
            *network.sequences(xs),
            *network.state(hx),
            *network.sequences(ys),
            *network.workspace,
            *network.weights(dw, written=True),
            *(address_of(reserve_space), size_of(reserve_space)),
        )
    return dw


def _public(run: Callable[..., Any], returns: str, **options: bool) -> Callable[..., Any]:
    """One of CuPy's functions: `run` with fixed options."""
    name = f"rnn{run.__name__}{'_ex' if options['padded'] else ''}"
    if "training" in options:
        name = name.replace("_forward", f"_forward_{_KINDS[options['training']]}")
    parameters = inspect.signature(run).parameters.values()
    shown = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    signature = inspect.Signature(shown)

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        return run(*bound.args, **options)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = f"{returns}{', for padded sequences' if options['padded'] else ''}."
    return function


_KINDS = {False: "inference", True: "training"}
_STATES = "hy, cy (empty but of an LSTM) and ys"
_GRADIENTS = "dhx, dcx (empty but of an LSTM) and dxs"

rnn_forward_inference: Callable[..., Any] = _public(_forward, _STATES, padded=False, training=False)
rnn_forward_inference_ex: Callable[..., Any] = _public(
    _forward, _STATES, padded=True, training=False
)
rnn_forward_training: Callable[..., Any] = _public(
    _forward, f"Reserve space, {_STATES}", padded=False, training=True
)
rnn_forward_training_ex: Callable[..., Any] = _public(
    _forward, f"Reserve space, {_STATES}", padded=True, training=True
)
rnn_backward_data: Callable[..., Any] = _public(_backward_data, _GRADIENTS, padded=False)
rnn_backward_data_ex: Callable[..., Any] = _public(_backward_data, _GRADIENTS, padded=True)
rnn_backward_weights: Callable[..., Any] = _public(
    _backward_weights, "The gradient of w", padded=False
)
rnn_backward_weights_ex: Callable[..., Any] = _public(
    _backward_weights, "The gradient of w", padded=True
)
