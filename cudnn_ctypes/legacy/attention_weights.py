"""The weights and biases of multi-head attention, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ctypes import c_size_t, c_void_p
from typing import Any, NamedTuple

from numpy.typing import NDArray

from .. import raw
from ..arguments import expect, flag
from ..handle import Handle
from ..runtime import DeviceBuffer, DeviceTensor
from .attention_descriptor import AttnDescriptor
from .enumerators import short_name
from .sequence_operands import WeightSpace
from .tensor import TensorDescriptor

__all__ = ["AttentionBufferSizes", "AttentionWeights", "attention_buffer_sizes"]


class AttentionBufferSizes(NamedTuple):
    """Sizes in bytes of what multi-head attention needs; `reserve_space` is 0 for inference.

    For an example see `attention_buffer_sizes`.
    """

    weights: int
    workspace: int
    reserve_space: int


def attention_buffer_sizes(
    handle: Handle, attn: AttnDescriptor, *, training: bool = True
) -> AttentionBufferSizes:
    """Sizes of an attention's buffers in bytes; follows ``cudnnGetMultiHeadAttnBuffers``.

    Parameters
    ----------
    attn : AttnDescriptor
        Heads, projections and the longest sequences.
    training : bool
        Whether a reserve space for the backward passes is wanted.

    Raises
    ------
    TypeError
        If `handle` is no `Handle`, or `attn` no `AttnDescriptor`.

    Examples
    --------
    >>> attn = AttnDescriptor(1, q_size=4, qo_max_length=3, kv_max_length=3)
    >>> with Handle() as handle:
    ...     sizes = attention_buffer_sizes(handle, attn, training=False)
    >>> sizes.weights, sizes.reserve_space  # no projections, no backward pass
    (0, 0)
    """
    expect("handle", handle, Handle)
    expect("attn", attn, AttnDescriptor)
    weights, workspace, reserve_space = c_size_t(), c_size_t(), c_size_t()
    raw.cudnnGetMultiHeadAttnBuffers(
        handle, attn, weights, workspace, reserve_space if flag("training", training) else None
    )
    return AttentionBufferSizes(weights.value, workspace.value, reserve_space.value)


class AttentionWeights(WeightSpace, Mapping[str, DeviceTensor]):
    """One space with the weights and biases of an attention, or with their gradients.

    The names are "q_weights", "k_weights", "v_weights", "o_weights", "q_biases", "k_biases",
    "v_biases" and "o_biases"; those that the attention has not are missing. Each gives a tensor in
    the space: weights (heads, rows, columns), biases (heads, rows, 1), of the output (1, rows, 1).
    Follows ``cudnnGetMultiHeadAttnWeights``.

    Parameters
    ----------
    handle : Handle
    attn : AttnDescriptor
    arrays : mapping of str to numpy.ndarray, optional
        What to copy in, by name.
    space : DeviceBuffer, optional
        Memory to use, which stays the caller's. Default: allocated, zero, and freed by `close`.

    Examples
    --------
    >>> with AttentionWeights(handle, attn, arrays) as weights:  # doctest: +SKIP
    ...     weights["q_weights"].numpy()
    """

    def __init__(
        self,
        handle: Handle,
        attn: AttnDescriptor,
        arrays: Mapping[str, NDArray[Any]] | None = None,
        *,
        space: DeviceBuffer | None = None,
    ) -> None:
        needed = attention_buffer_sizes(handle, attn, training=False).weights
        super().__init__(handle, space, needed)
        try:
            self._tensors = _tensors(handle, attn, self.space, needed)
            if arrays is not None:
                self.copy_from(arrays)
        except BaseException:
            self.close()
            raise

    def copy_from(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Copy arrays in, by name. Values are rounded to its type.

        Raises
        ------
        ValueError
            If a name is not one of this attention's, or a shape is another; the message names it.
        """
        if not isinstance(arrays, Mapping):
            raise TypeError(f"arrays: expected arrays by name, got {arrays!r}")
        unknown = [name for name in arrays if name not in self._tensors]
        if unknown:
            raise ValueError(
                f"arrays: this attention has no {', '.join(unknown)}; it has "
                f"{', '.join(self._tensors) or 'no weights'}"
            )
        for name, array in arrays.items():
            self._write(f"arrays[{name!r}]", self._tensors[name], array)

    def numpy(self) -> dict[str, NDArray[Any]]:
        """Copies of all weights and biases, by name, after the work on the handle's stream."""
        return {name: tensor.numpy(stream=self._stream) for name, tensor in self.items()}

    def __getitem__(self, name: str) -> DeviceTensor:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {tensor.shape}" for name, tensor in self.items())
        return f"<AttentionWeights, {self.nbytes} bytes: {shapes or 'none'}>"


def _tensors(
    handle: Handle, attn: AttnDescriptor, space: DeviceBuffer, size: int
) -> dict[str, DeviceTensor]:
    tensors = {}
    with TensorDescriptor() as desc:
        for kind in raw.cudnnMultiHeadAttnWeightKind_t:
            address = c_void_p()
            raw.cudnnGetMultiHeadAttnWeights(handle, attn, kind, size, space, desc, address)
            if address.value is not None:
                tensors[short_name(kind)] = DeviceTensor(
                    space,
                    desc.shape,
                    desc.data_type,
                    strides=desc.strides,
                    offset=address.value - space.ptr,
                )
    return tensors
