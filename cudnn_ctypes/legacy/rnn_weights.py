"""The weights of a recurrent network as named arrays.

cuDNN keeps all weights of a network in one piece of memory, the weight space, in an order of its
own; ``cudnnGetRNNWeightParams`` tells where each matrix and each bias lies. Here each has a name:

========================  =====================  ============================================
name                      shape                  what it is
========================  =====================  ============================================
``w_<gate>``              (hidden, input)        matrix for the layer's input
``r_<gate>``              (hidden, state)        matrix for the hidden state of the step before
``projection``            (projection, hidden)   an LSTM's projection
``bw_<gate>``             (hidden,)              bias added to the input part
``br_<gate>``             (hidden,)              bias added to the recurrent part
========================  =====================  ============================================

The gates are, in the order of cuDNN's linear layers, which is PyTorch's too: input, forget, cell,
output for an LSTM; reset, update, new for a GRU; hidden for the plain cells. What a network has not
(a first layer without matrices, a bias) is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ctypes import c_void_p
from typing import Any

from numpy.typing import NDArray

from .. import raw
from ..arguments import expect
from ..dtypes import element_bits
from ..handle import Handle
from ..resource import Uncopied
from ..runtime import DeviceBuffer, DeviceTensor
from .rnn_descriptor import RNNDescriptor
from .sequence_operands import WeightSpace
from .tensor import TensorDescriptor


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
    """The weights of one pseudo-layer by name; views of the weight space.

    `RNNWeights` makes them.

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
