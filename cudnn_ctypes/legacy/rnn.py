"""Recurrent networks: forward, and the gradients of data and weights.

The steps of training::

    rnn = RNNDescriptor("lstm", input_size=8, hidden_size=16)
    weights, gradients = RNNWeights(handle, rnn), RNNWeights(handle, rnn)
    with RNN.of(rnn, x, lengths=[5, 3]) as network:
        y, hy, cy, reserve_space = network.forward(handle, x, weights)
        saved = {"y": y, "reserve_space": reserve_space}
        dx, dhx, dcx = network.backward_data(handle, dy=dy, weights=weights, **saved)
        network.backward_weights(handle, x=x, dweights=gradients, **saved)

Sequences and states are ``DeviceTensor``s or tensors of other libraries, dense in C order; or
``DeviceBuffer``s or addresses. States are (pseudo-layers, B, size). Results and buffers are
allocated where none are given; all work goes to the handle's stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from .. import raw
from ..arguments import enumerator, expect, flag
from ..handle import Handle
from ..raw import operand_rules
from ..raw.records import record
from ..resource import Closing, Uncopied
from .descriptor import Descriptor
from .documentation import launched
from .rnn_descriptor import RNNDataDescriptor, RNNDescriptor, RNNTempSpaceSizes
from .rnn_weights import RNNWeights
from .sequence_operands import SequenceOperands
from .tensor import TensorDescriptor

Self = TypeVar("Self", bound="RNN")


def _state_desc(shape: tuple[int, ...], data_type: raw.cudnnDataType_t) -> TensorDescriptor:
    strides = (shape[1] * shape[2], shape[2], 1)
    return TensorDescriptor(shape, data_type, strides=strides)


class RNNForwardResult(NamedTuple):
    """Result of `RNN.forward`.

    For an example see `RNN`.

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


class RNNGradients(NamedTuple):
    """Gradients of x, hx and, for an LSTM, cx, from `RNN.backward_data`.

    Examples
    --------
    >>> x, dy = (DeviceTensor.full((3, 2, size), 1, "float32") for size in (8, 16))
    >>> rnn = RNNDescriptor("lstm", input_size=8, hidden_size=16)
    >>> network = RNN(rnn, RNNDataDescriptor([3, 3], 8))
    >>> with Handle() as handle, RNNWeights(handle, rnn) as weights:
    ...     y, *_, reserve_space = network.forward(handle, x, weights, training=True)
    ...     saved = {"weights": weights, "reserve_space": reserve_space}
    ...     gradients = network.backward_data(handle, y=y, dy=dy, **saved)
    >>> gradients.dx.shape, gradients.dhx.shape
    ((3, 2, 8), (1, 2, 16))
    """

    dx: Any
    dhx: Any
    dcx: Any


class RNN(Closing, Uncopied):
    """A recurrent network on a batch of sequences: descriptors that fit each other.

    Usable in ``with``, which closes the descriptors that it made, but not the two given.

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

    Examples
    --------
    >>> x = DeviceTensor.full((3, 2, 8), 1, "float32")
    >>> rnn = RNNDescriptor("lstm", input_size=8, hidden_size=16)
    >>> x_desc = RNNDataDescriptor([3, 3], 8)
    >>> with Handle() as handle, RNNWeights(handle, rnn) as weights:
    ...     result = RNN(rnn, x_desc).forward(handle, x, weights)
    >>> result.y.shape, result.hy.shape
    ((3, 2, 16), (1, 2, 16))
    """

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
        names = {"rnnDesc": "rnn", "xDesc": "x"}
        operand_rules.check(raw.FUNCTIONS["cudnnRNNForward"], descriptors, names)

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
        """Bytes of workspace and reserve space; follows ``cudnnGetRNNTempSpaceSizes``.

        Parameters
        ----------
        training : bool
            Whether the backward passes follow.
        """
        return self.rnn.temp_space_sizes(handle, self.x_desc, training=training)

    # -- the three passes ----------------------------------------------------------------------

    @launched
    def forward(
        self,
        handle: Handle,
        x: Any,
        weights: Any,
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
    ) -> RNNForwardResult:
        """y, and the states after the last steps; follows ``cudnnRNNForward``.

        Parameters
        ----------
        x : tensor
            As `x_desc` says.
        weights : RNNWeights, DeviceBuffer or tensor
            The weight space.
        hx, cx : tensor, optional
            States before the first steps; default: zero. cx is of an LSTM only.
        y, hy, cy : tensor, optional
            Results. Default: allocated.
        training : bool
            Keep what the backward passes need, and apply dropout.
        final_states : bool
            False: hy and cy are not computed, unless given.
        workspace, reserve_space : DeviceBuffer or tensor, optional
            Default: allocated, the workspace for the call only.
        device_lengths : tensor, optional
            A copy of the lengths, int32, in device memory. cuDNN 9 does not need it.

        Raises
        ------
        NotSupportedError
            If cuDNN has no kernel: for example, persistent algorithms and lengths that differ.
        """
        tensors = {"x": x, "y": y, "hx": hx, "hy": hy, "cx": cx, "cy": cy}
        with SequenceOperands(handle, **self._described(tensors)) as operands:
            operands.require("x")
            sizes = self.temp_space_sizes(handle, training=training)
            y = operands.result("y") if y is None else y
            final_states = flag("final_states", final_states)
            hy, cy = self._states(operands, final_states, hy=hy, cy=cy)
            reserve_space = operands.reserve_space(reserve_space, sizes.reserve_space)
            operands.launch(
                raw.cudnnRNNForward,
                fwdMode=raw.CUDNN_FWD_MODE_TRAINING if training else raw.CUDNN_FWD_MODE_INFERENCE,
                weightSpace=operands.room("weights", weights, self.rnn.weight_space_size(handle)),
                **self._shared(operands, sizes, reserve_space, workspace, device_lengths),
                cDesc=self.c_desc,
            )
        return RNNForwardResult(y, hy, cy, reserve_space)

    @launched
    def backward_data(
        self,
        handle: Handle,
        *,
        y: Any,
        dy: Any,
        weights: Any,
        reserve_space: Any,
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
    ) -> RNNGradients:
        """Gradients of x and of the initial states; follows ``cudnnRNNBackwardData_v8``.

        Parameters
        ----------
        y, hx, cx, weights, reserve_space
            Of the forward pass, in training mode. The reserve space is written to.
        dy : tensor
            Gradient of y.
        dhy, dcy : tensor, optional
            Gradients of hy and cy; default: zero.
        dx, dhx, dcx : tensor, optional
            Results. Default: allocated.
        initial_gradients : bool
            False: dhx and dcx are not computed, unless given.

        The other parameters and the errors are those of `forward`.
        """
        tensors = {"y": y, "dy": dy, "dx": dx, "hx": hx, "dhy": dhy, "dhx": dhx}
        tensors |= {"cx": cx, "dcy": dcy, "dcx": dcx}
        with SequenceOperands(handle, **self._described(tensors)) as operands:
            operands.require("y", "dy")
            sizes = self.temp_space_sizes(handle)
            dx = operands.result("dx") if dx is None else dx
            initial_gradients = flag("initial_gradients", initial_gradients)
            dhx, dcx = self._states(operands, initial_gradients, dhx=dhx, dcx=dcx)
            operands.launch(
                raw.cudnnRNNBackwardData_v8,
                weightSpace=operands.room("weights", weights, self.rnn.weight_space_size(handle)),
                **self._shared(operands, sizes, reserve_space, workspace, device_lengths),
                cDesc=self.c_desc,
            )
        return RNNGradients(dx, dhx, dcx)

    @launched
    def backward_weights(
        self,
        handle: Handle,
        *,
        x: Any,
        y: Any,
        reserve_space: Any,
        hx: Any = None,
        dweights: Any = None,
        mode: Any = "add",
        workspace: Any = None,
        device_lengths: Any = None,
    ) -> Any:
        """Add the gradients of the weights to `dweights`; follows ``cudnnRNNBackwardWeights_v8``.

        `backward_data` must have gone before.

        Parameters
        ----------
        x, y, hx, reserve_space
            Of the forward pass; the reserve space as `backward_data` left it.
        dweights : RNNWeights, DeviceBuffer or tensor, optional
            Default: allocated, from zero.
        mode : cudnnWgradMode_t or str
            "add"; cuDNN does not support "set".
        workspace, device_lengths
            As for `forward`.

        Returns
        -------
        RNNWeights, or dweights as they were given

        The other parameters and the errors are those of `forward`.
        """
        mode = enumerator(raw.cudnnWgradMode_t, mode, "mode")
        tensors = {"x": x, "y": y, "hx": hx}
        with (
            ExitStack() as on_error,
            SequenceOperands(handle, **self._described(tensors)) as operands,
        ):
            operands.require("x", "y")
            sizes, needed = self.temp_space_sizes(handle), self.rnn.weight_space_size(handle)
            if dweights is None:
                dweights = on_error.enter_context(RNNWeights(handle, self.rnn))
            operands.launch(
                raw.cudnnRNNBackwardWeights_v8,
                addGrad=mode,
                dweightSpace=operands.room("dweights", dweights, needed),
                **self._shared(operands, sizes, reserve_space, workspace, device_lengths),
            )
            on_error.pop_all()
        return dweights

    # -- arguments -----------------------------------------------------------------------------

    def _described(self, operands: dict[str, Any]) -> dict[str, Any]:
        """The operands, each with its descriptor."""
        self._check_fit()
        descriptors: dict[str, Any] = {
            "x": self.x_desc,
            "y": self.y_desc,
            "h": self.h_desc,
            "c": self.c_desc,
        }
        for name in ("cx", "cy", "dcx", "dcy"):
            if operands.get(name) is not None and self.rnn.cell != raw.CUDNN_LSTM:
                raise ValueError(f"{name}: only an LSTM has cell states")
        return {
            name: (value, descriptors[name.removeprefix("d")[0]])
            for name, value in operands.items()
        }

    def _states(self, operands: SequenceOperands, make: bool, **states: Any) -> tuple[Any, Any]:
        """Results for a hidden and a cell state; None for what is not wanted."""
        (h_name, h), (c_name, c) = states.items()
        if h is None and make:
            h = operands.result(h_name)
        if c is None and make and self.rnn.cell == raw.CUDNN_LSTM:
            c = operands.result(c_name)
        return h, c

    def _shared(
        self,
        operands: SequenceOperands,
        sizes: RNNTempSpaceSizes,
        reserve_space: Any,
        workspace: Any,
        lengths: Any,
    ) -> dict[str, Any]:
        """Arguments of all three passes."""
        return {
            "rnnDesc": self.rnn,
            "devSeqLengths": operands.integers("device_lengths", lengths, self.x_desc.batch_size),
            "xDesc": self.x_desc,
            "yDesc": self.y_desc,
            "hDesc": self.h_desc,
            "reserveSpace": operands.room("reserve_space", reserve_space, sizes.reserve_space),
            "workSpace": operands.workspace(workspace, sizes.workspace),
        }
