"""Descriptors of a recurrent network and its sequences that fit each other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, TypeVar

from .. import raw
from ..arguments import expect
from ..handle import Handle
from ..raw import operand_rules
from ..raw.records import record
from ..resource import Closing, Uncopied
from .descriptor import Descriptor
from .rnn_data import RNNDataDescriptor
from .rnn_descriptor import RNNDescriptor, RNNTempSpaceSizes
from .tensor import TensorDescriptor

__all__ = ["RNNProblem"]

Self = TypeVar("Self", bound="RNNProblem")


class RNNProblem(Closing, Uncopied):
    """The part of `RNN` that makes, checks and closes descriptors."""

    def __init__(self, rnn: RNNDescriptor, x_desc: RNNDataDescriptor) -> None:
        self.rnn: RNNDescriptor = expect("rnn", rnn, RNNDescriptor)
        self.x_desc: RNNDataDescriptor = expect("x_desc", x_desc, RNNDataDescriptor)
        self._check_x()
        h_shape, c_shape = self._state_shapes()
        with ExitStack() as made:
            self.y_desc: RNNDataDescriptor = made.enter_context(x_desc.like(rnn.output_size))
            self.h_desc: TensorDescriptor = made.enter_context(_state_desc(h_shape, rnn.data_type))
            self.c_desc: TensorDescriptor = made.enter_context(_state_desc(c_shape, rnn.data_type))
            self._made = made.pop_all()

    @property
    def descriptors(self) -> tuple[Descriptor[Any], ...]:
        """All descriptors that a pass looks at."""
        return (*self.rnn.descriptors, self.x_desc, self.y_desc, self.h_desc, self.c_desc)

    def _state_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        first = (self.rnn.pseudo_layers, self.x_desc.batch_size)
        return (*first, self.rnn.state_size), (*first, self.rnn.hidden_size)

    def _check_x(self) -> None:
        descriptors = {"rnnDesc": self.rnn, "xDesc": self.x_desc}
        operand_rules.check(raw.FUNCTIONS["cudnnRNNForward"], descriptors, {"xDesc": "x"})

    def _check_fit(self) -> None:
        """Refuse descriptors that were set anew since, and do not fit each other any more."""
        self._check_x()
        x, y, size = record(self.x_desc), record(self.y_desc), self.rnn.output_size
        states = self.h_desc.shape, self.c_desc.shape
        if replace(x, vector_size=size) != y or states != self._state_shapes():
            raise ValueError("rnn or x_desc was set anew since: make a new RNN of them")

    @classmethod
    def of(
        cls: type[Self],
        rnn: RNNDescriptor,
        x: Any,
        *,
        lengths: Sequence[int] | None = None,
        layout: Any = "seq_major_unpacked",
        padding_fill: float | None = None,
    ) -> Self:
        """The network on the sequences of a tensor; arguments as for `RNNDataDescriptor.of`.

        The descriptor of x is closed with the network.
        """
        with ExitStack() as on_error:
            x_desc = on_error.enter_context(
                RNNDataDescriptor.of(
                    x, lengths=lengths, layout=layout, padding_fill=padding_fill, name="x"
                )
            )
            network = cls(rnn, x_desc)
            on_error.pop_all()
        network._made.enter_context(x_desc)
        return network

    def close(self) -> None:
        """Close the descriptors that it made. A second call does nothing."""
        self._made.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rnn!r}, {self.x_desc!r})"

    def temp_space_sizes(self, handle: Handle, *, training: bool = True) -> RNNTempSpaceSizes:
        """Bytes of workspace and reserve space; follows ``cudnnGetRNNTempSpaceSizes``."""
        return self.rnn.temp_space_sizes(handle, self.x_desc, training=training)


def _state_desc(shape: tuple[int, ...], data_type: raw.cudnnDataType_t) -> TensorDescriptor:
    strides = (shape[1] * shape[2], shape[2], 1)
    return TensorDescriptor(shape, data_type, strides=strides)
