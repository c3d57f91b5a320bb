"""Recurrent networks: descriptors, places of weights, and the operands of a pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import addressof, c_void_p
from typing import Any, NamedTuple

import numpy as np

from .... import raw
from .arrays import Session
from .descriptors import (
    Descriptor,
    create_filter_descriptor,
    create_tensor_nd_descriptor,
    get_data_type,
    get_handle,
    tensor,
)
from .layers import DropoutStates
from .low_level import low

__all__ = [
    "create_rnn_descriptor",
    "get_rnn_lin_layer_bias_params",
    "get_rnn_lin_layer_matrix_params",
    "network_of",
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
