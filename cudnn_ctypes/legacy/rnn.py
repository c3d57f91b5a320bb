"""Recurrent networks: forward, and the gradients of data and weights.

The steps of training::

    rnn = RNNDescriptor("lstm", input_size=8, hidden_size=16)
    weights, gradients = RNNWeights(handle, rnn), RNNWeights(handle, rnn)
    with RNN.of(rnn, x, lengths=[5, 3]) as network:
        y, hy, cy, reserve_space = network.forward(handle, x, weights)
        dx, dhx, dcx = network.backward_data(handle, y, dy, weights, reserve_space)
        network.backward_weights(handle, x, y, reserve_space, gradients)

Sequences and states are ``DeviceTensor``s or tensors of other libraries, dense in C order; or
``DeviceBuffer``s or addresses. States are (pseudo-layers, B, size). Results and buffers are made
where none are given; all work goes to the handle's stream.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, NamedTuple

from .. import raw
from ..device import DeviceBuffer
from ..handle import Handle
from .enumerators import enumerator
from .rnn_memory import Memory
from .rnn_problem import RNNProblem
from .rnn_weights import RNNWeights

__all__ = ["RNN", "RNNBackwardData", "RNNForward"]


class RNNForward(NamedTuple):
    """What `RNN.forward` returns.

    Attributes
    ----------
    y : DeviceTensor
        The outputs of the last layer, as `RNN.y_desc` says.
    hy, cy : DeviceTensor or None
        (pseudo-layers, B, size), the states after the last step; cy of an LSTM only.
    reserve_space : DeviceTensor of bytes, or None
        What the backward passes need; None for inference.
    """

    y: Any
    hy: Any
    cy: Any
    reserve_space: Any


class RNNBackwardData(NamedTuple):
    """What `RNN.backward_data` returns: the gradients of x, hx and, of an LSTM, cx."""

    dx: Any
    dhx: Any
    dcx: Any


class RNN(RNNProblem):
    """A recurrent network on a batch of sequences: descriptors that fit each other.

    Usable in ``with``, which closes the descriptors that it made, but not the two given. The
    descriptors are read once: make a new network after setting one anew.

    Parameters
    ----------
    rnn : RNNDescriptor
    x_desc : RNNDataDescriptor
        The sequences that the network reads. Its `padding_fill` is what y and dx hold in the
        padding.

    Attributes
    ----------
    y_desc : RNNDataDescriptor
        The sequences that it gives.
    h_desc, c_desc : TensorDescriptor
        (pseudo-layers, B, state size) and (pseudo-layers, B, hidden size).

    Raises
    ------
    ValueError
        If the sequences are not what the network reads.
    """

    # -- the three passes ----------------------------------------------------------------------

    def forward(
        self,
        handle: Handle,
        x: Any,
        weights: RNNWeights | DeviceBuffer,
        *,
        hx: Any = None,
        cx: Any = None,
        y: Any = None,
        hy: Any = None,
        cy: Any = None,
        training: bool = True,
        final_states: bool = True,
        workspace: Any = None,
        reserve_space: Any = None,
        device_lengths: Any = None,
    ) -> RNNForward:
        """y, and the states after the last steps; follows ``cudnnRNNForward``.

        Parameters
        ----------
        x : tensor
            As `x_desc` says.
        weights : RNNWeights or DeviceBuffer
        hx, cx : tensor, optional
            States before the first steps; left out: zero. cx is of an LSTM only.
        y, hy, cy : tensor, optional
            Where results go. Left out: made.
        training : bool
            Keep what the backward passes need, and apply dropout.
        final_states : bool
            False: hy and cy are not computed, unless given.
        workspace, reserve_space : DeviceBuffer or tensor, optional
            Left out: the workspace is allocated for the call, the reserve space made.
        device_lengths : tensor, optional
            A copy of the lengths, int32, in device memory. cuDNN 9 does not need it.

        Raises
        ------
        TypeError
            If an operand is host memory, or of another data type.
        ValueError
            If a shape does not fit, or memory is too small; the message names the argument.
        NotSupportedError
            If cuDNN has no kernel: for example, persistent algorithms and lengths that differ.
        """
        sizes = self.temp_space_sizes(handle, training=training)
        with Memory(handle, self._data_type) as memory:
            y = memory.result("y", y, self._y_shape)
            hy, cy = self._states(memory, final_states, hy=hy, cy=cy)
            space = memory.reserve(reserve_space, sizes.reserve_space, make=training)
            raw.cudnnRNNForward(
                handle,
                self.rnn,
                raw.CUDNN_FWD_MODE_TRAINING if training else raw.CUDNN_FWD_MODE_INFERENCE,
                self._lengths(memory, device_lengths),
                self.x_desc,
                memory.operand("x", x, self._x_shape),
                self.y_desc,
                memory.written("y"),
                self.h_desc,
                memory.operand("hx", hx, self._h_shape, optional=True),
                memory.written("hy"),
                self.c_desc,
                memory.operand("cx", self._lstm_only("cx", cx), self._c_shape, optional=True),
                memory.written("cy"),
                *memory.weights("weights", weights, self.rnn.weight_space_size(handle)),
                *memory.workspace(workspace, sizes.workspace),
                *memory.sized(space),
            )
        return RNNForward(y, hy, cy, space)

    def backward_data(
        self,
        handle: Handle,
        y: Any,
        dy: Any,
        weights: RNNWeights | DeviceBuffer,
        reserve_space: Any,
        *,
        hx: Any = None,
        cx: Any = None,
        dhy: Any = None,
        dcy: Any = None,
        dx: Any = None,
        dhx: Any = None,
        dcx: Any = None,
        initial_gradients: bool = True,
        workspace: Any = None,
        device_lengths: Any = None,
    ) -> RNNBackwardData:
        """Gradients of x and of the initial states; follows ``cudnnRNNBackwardData_v8``.

        Parameters
        ----------
        y, hx, cx, weights, reserve_space
            Of the forward pass, in training mode. The reserve space is written to.
        dy : tensor
            Gradient of y.
        dhy, dcy : tensor, optional
            Gradients of hy and cy; left out: zero.
        dx, dhx, dcx : tensor, optional
            Where results go. Left out: made.
        initial_gradients : bool
            False: dhx and dcx are not computed, unless given.

        The other parameters and the errors are those of `forward`.
        """
        sizes = self.temp_space_sizes(handle)
        h_shape, c_shape = self._h_shape, self._c_shape
        with Memory(handle, self._data_type) as memory:
            dx = memory.result("dx", dx, self._x_shape)
            dhx, dcx = self._states(memory, initial_gradients, dhx=dhx, dcx=dcx)
            space = memory.reserve(reserve_space, sizes.reserve_space, make=False)
            raw.cudnnRNNBackwardData_v8(
                handle,
                self.rnn,
                self._lengths(memory, device_lengths),
                self.y_desc,
                memory.operand("y", y, self._y_shape),
                memory.operand("dy", dy, self._y_shape),
                self.x_desc,
                memory.written("dx"),
                self.h_desc,
                memory.operand("hx", hx, h_shape, optional=True),
                memory.operand("dhy", dhy, h_shape, optional=True),
                memory.written("dhx"),
                self.c_desc,
                memory.operand("cx", self._lstm_only("cx", cx), c_shape, optional=True),
                memory.operand("dcy", self._lstm_only("dcy", dcy), c_shape, optional=True),
                memory.written("dcx"),
                *memory.weights("weights", weights, self.rnn.weight_space_size(handle)),
                *memory.workspace(workspace, sizes.workspace),
                *memory.sized(space),
            )
        return RNNBackwardData(dx, dhx, dcx)

    def backward_weights(
        self,
        handle: Handle,
        x: Any,
        y: Any,
        reserve_space: Any,
        gradients: RNNWeights | DeviceBuffer | None = None,
        *,
        hx: Any = None,
        mode: Any = "add",
        workspace: Any = None,
        device_lengths: Any = None,
    ) -> Any:
        """Add the gradients of the weights to `gradients`; follows ``cudnnRNNBackwardWeights_v8``.

        `backward_data` must have gone before.

        Parameters
        ----------
        x, y, hx, reserve_space
            Of the forward pass; the reserve space as `backward_data` left it.
        gradients : RNNWeights or DeviceBuffer, optional
            Left out: made, from zero.
        mode : cudnnWgradMode_t or str
            "add"; cuDNN does not support "set".

        Returns
        -------
        RNNWeights, or gradients as they were given

        The other parameters and the errors are those of `forward`.
        """
        sizes = self.temp_space_sizes(handle)
        mode = enumerator(raw.cudnnWgradMode_t, mode, "mode")
        with Memory(handle, self._data_type) as memory:
            space = memory.reserve(reserve_space, sizes.reserve_space, make=False)
            arguments = (
                self._lengths(memory, device_lengths),
                self.x_desc,
                memory.operand("x", x, self._x_shape),
                self.h_desc,
                memory.operand("hx", hx, self._h_shape, optional=True),
                self.y_desc,
                memory.operand("y", y, self._y_shape),
            )
            made = RNNWeights(handle, self.rnn) if gradients is None else gradients
            with ExitStack() as on_error:
                if isinstance(made, RNNWeights) and gradients is None:
                    on_error.enter_context(made)
                raw.cudnnRNNBackwardWeights_v8(
                    handle,
                    self.rnn,
                    mode,
                    *arguments,
                    *memory.weights("gradients", made, self.rnn.weight_space_size(handle)),
                    *memory.workspace(workspace, sizes.workspace),
                    *memory.sized(space),
                )
                on_error.pop_all()
        return made

    # -- arguments -----------------------------------------------------------------------------

    def _states(self, memory: Memory, make: bool, **given: Any) -> tuple[Any, Any]:
        """Results for a hidden and a cell state; None for what is not wanted."""
        (h_name, h), (c_name, c) = given.items()
        if h is not None or make:
            h = memory.result(h_name, h, self._h_shape)
        c = self._lstm_only(c_name, c)
        if c is not None or (make and self._lstm):
            c = memory.result(c_name, c, self._c_shape)
        return h, c

    def _lstm_only(self, name: str, value: Any) -> Any:
        if value is not None and not self._lstm:
            raise ValueError(f"{name}: only an LSTM has cell states")
        return value

    def _lengths(self, memory: Memory, lengths: Any) -> Any:
        shape = self._h_shape[1:2]
        return memory.operand("device_lengths", lengths, shape, "int32", optional=True)
