"""Recurrent networks: forward, the gradients of data and weights, and weights as named arrays.

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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from ctypes import c_void_p
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from numpy.typing import NDArray

from .. import raw
from ..arguments import enumerator, expect, flag
from ..dtypes import element_bits
from ..handle import Handle
from ..raw import operand_rules
from ..raw.records import record
from ..resource import Closing, Uncopied
from ..runtime import DeviceBuffer, DeviceTensor
from .descriptor import Descriptor
from .documentation import launched
from .rnn_descriptor import RNNDataDescriptor, RNNDescriptor, RNNTempSpaceSizes
from .sequence_operands import SequenceOperands, WeightSpace
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


# -- weights by name ------------------------------------------------------------------------------


def rnn_weight_params(
    handle: Handle, rnn: RNNDescriptor, pseudo_layer: int, linear_layer: int, space: DeviceBuffer
) -> tuple[DeviceTensor | None, DeviceTensor | None]:
    """One matrix and its bias as views of a weight space; follows ``cudnnGetRNNWeightParams``.

    Parameters
    ----------
    pseudo_layer : int
        The layer; with two directions twice the layer, and one more for backwards.
    linear_layer : int
        Number of the gate for its input matrix and bias; that plus the number of gates for the
        recurrent ones; twice the number of gates for the projection.
    space : DeviceBuffer or tensor
        The weight space; the results are views of it.

    Returns
    -------
    matrix, bias : DeviceTensor or None
        (rows, columns) and (rows,); None for what the network has not.

    Raises
    ------
    TypeError
        If `rnn` is no `RNNDescriptor`.
    BadParamError
        If the network has no such layer or gate, or `space` is too small.

    Examples
    --------
    >>> rnn = RNNDescriptor("lstm", input_size=8, hidden_size=16)
    >>> with Handle() as handle, RNNWeights(handle, rnn) as weights:
    ...     matrix, bias = rnn_weight_params(handle, rnn, 0, 0, weights.space)
    ...     print(matrix.shape, bias.shape)
    (16, 8) (16,)
    """
    expect("space", space, DeviceBuffer)
    matrix_address, bias_address = c_void_p(), c_void_p()
    with TensorDescriptor() as matrix_desc, TensorDescriptor() as bias_desc:
        raw.cudnnGetRNNWeightParams(
            handle,
            rnn,
            pseudo_layer,
            space.nbytes,
            space,
            linear_layer,
            matrix_desc,
            matrix_address,
            bias_desc,
            bias_address,
        )
        matrix = _view(space, matrix_address.value, matrix_desc, 2)
        return matrix, _view(space, bias_address.value, bias_desc, 1)


def _view(
    space: DeviceBuffer, address: int | None, desc: TensorDescriptor, ndim: int
) -> DeviceTensor | None:
    if not address:
        return None
    # (1, rows, columns) of a matrix, (1, rows, 1) of a bias
    shape, strides = desc.shape[1 : 1 + ndim], desc.strides[1 : 1 + ndim]
    return DeviceTensor(space, shape, desc.data_type, strides=strides, offset=address - space.ptr)


class RNNLayerWeights(Uncopied, Mapping[str, DeviceTensor]):
    """The weights of one pseudo-layer by name; views of the weight space. `RNNWeights` makes them.

    ========================  =====================  ============================================
    name                      shape                  what it is
    ========================  =====================  ============================================
    ``w_<gate>``              (hidden, input)        matrix for the layer's input
    ``r_<gate>``              (hidden, state)        matrix for the hidden state of the step before
    ``projection``            (projection, hidden)   an LSTM's projection
    ``bw_<gate>``             (hidden,)              bias added to the input part
    ``br_<gate>``             (hidden,)              bias added to the recurrent part
    ========================  =====================  ============================================

    The gates are, in the order of cuDNN's linear layers, which is PyTorch's too: input, forget,
    cell, output for an LSTM; reset, update, new for a GRU; hidden for the plain cells. What a
    network has not (a first layer without matrices, a bias) is missing.

    Examples
    --------
    >>> rnn = RNNDescriptor("rnn_relu", input_size=8, hidden_size=16)
    >>> with Handle() as handle, RNNWeights(handle, rnn) as weights:
    ...     print({name: tensor.shape for name, tensor in weights[0].items()})
    {'w_hidden': (16, 8), 'r_hidden': (16, 16), 'bw_hidden': (16,), 'br_hidden': (16,)}
    """

    def __init__(self, tensors: dict[str, DeviceTensor]) -> None:
        self._tensors = tensors

    def __getitem__(self, name: str) -> DeviceTensor:
        try:
            return self._tensors[name]
        except KeyError:
            raise KeyError(f"{name}: this layer has {', '.join(self._tensors)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {tensor.shape}" for name, tensor in self._tensors.items())
        return f"RNNLayerWeights({shapes})"


class RNNWeights(WeightSpace, Sequence[RNNLayerWeights]):
    """All weights of a network, or their gradients: one `RNNLayerWeights` for each pseudo-layer.

    Parameters
    ----------
    handle : Handle
    rnn : RNNDescriptor
    space : DeviceBuffer, optional
        The weight space, at least ``rnn.weight_space_size(handle)`` bytes. Default: allocated,
        filled with zeros, and closed by `close`.

    Attributes
    ----------
    space : DeviceBuffer
        The weight space.

    Examples
    --------
    >>> weights = RNNWeights(handle, rnn)  # doctest: +SKIP
    >>> weights[0]["w_forget"].copy_from(array)  # doctest: +SKIP
    >>> weights[1, "backward"]["br_output"].numpy()  # doctest: +SKIP
    """

    def __init__(
        self, handle: Handle, rnn: RNNDescriptor, space: DeviceBuffer | None = None
    ) -> None:
        expect("rnn", rnn, RNNDescriptor)
        super().__init__(handle, space, rnn.weight_space_size(handle))
        space = self.space
        self._data_type = rnn.data_type
        self._directions = 2 if rnn.bidirectional else 1
        self._layers = [
            RNNLayerWeights(_named(handle, rnn, number, space))
            for number in range(rnn.pseudo_layers)
        ]

    def __len__(self) -> int:
        return len(self._layers)

    def __getitem__(self, layer: Any) -> Any:
        """The weights of a pseudo-layer, given by its number or as (layer, direction).

        A direction is "forward" or "backward", 0 or 1.
        """
        if isinstance(layer, tuple):
            number, direction = layer
            names = {"forward": 0, "backward": 1, 0: 0, 1: 1}
            if names.get(direction, 2) >= self._directions:
                raise IndexError(f"no direction {direction!r} in a network of {self._directions}")
            return self._layers[self._directions * number + names[direction]]
        return self._layers[layer]

    @property
    def flat(self) -> DeviceTensor:
        """The whole weight space as one vector, for an optimiser's arithmetic."""
        count = self.space.nbytes * 8 // element_bits(self._data_type)
        return DeviceTensor(self.space, (count,), self._data_type)

    def numpy(self) -> list[dict[str, NDArray[Any]]]:
        """Copies of all weights, after the work on the handle's stream."""
        return [
            {name: tensor.numpy(stream=self._stream) for name, tensor in layer.items()}
            for layer in self._layers
        ]

    def copy_from(self, layers: Sequence[Mapping[str, NDArray[Any]]]) -> None:
        """Write weights, given as `numpy` gives them; values are rounded to the data type.

        Parameters
        ----------
        layers : sequence of mappings
            For each pseudo-layer its arrays by name.

        Raises
        ------
        ValueError
            If a layer, a name or a shape does not fit.
        """
        if not isinstance(layers, Sequence) or not all(isinstance(e, Mapping) for e in layers):
            raise TypeError(f"layers: expected a sequence of mappings, got {layers!r}")
        if len(layers) != len(self._layers):
            raise ValueError(f"layers: expected {len(self._layers)}, got {len(layers)}")
        for number, (own, new) in enumerate(zip(self._layers, layers, strict=True)):
            if set(new) != set(own):
                raise ValueError(
                    f"layers[{number}]: expected {', '.join(own)}; got {', '.join(new)}"
                )
            for name, array in new.items():
                self._write(f"layers[{number}][{name!r}]", own[name], array)

    def __repr__(self) -> str:
        return f"<RNNWeights, {len(self)} pseudo-layers in {self.space!r}>"


def _named(
    handle: Handle, rnn: RNNDescriptor, pseudo_layer: int, space: DeviceBuffer
) -> dict[str, DeviceTensor]:
    """The tensors of a pseudo-layer: matrices first, in the order of the linear layers."""
    matrices, biases = {}, {}
    parts = [(f"w_{gate}", f"bw_{gate}") for gate in rnn.gates]
    parts += [(f"r_{gate}", f"br_{gate}") for gate in rnn.gates]
    if rnn.projection_size is not None:
        parts.append(("projection", ""))
    for number, (matrix_name, bias_name) in enumerate(parts):
        matrix, bias = rnn_weight_params(handle, rnn, pseudo_layer, number, space)
        if matrix is not None:
            matrices[matrix_name] = matrix
        if bias is not None:
            biases[bias_name] = bias
    return {**matrices, **biases}
