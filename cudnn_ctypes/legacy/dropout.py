"""Dropout: its descriptor with the random states, and the operation forward and backward.

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

from ctypes import c_float, c_size_t, c_ulonglong, c_void_p
from typing import Any, NamedTuple

from .. import raw
from ..device import DeviceBuffer, DeviceTensor
from ..handle import Handle
from .descriptor import Descriptor
from .operands import Operands, check_memory, expect, imported
from .tensor import TensorDescriptor

__all__ = [
    "DropoutDescriptor",
    "DropoutForward",
    "dropout_backward",
    "dropout_forward",
    "dropout_reserve_size",
    "dropout_states_size",
]


def dropout_states_size(handle: Handle) -> int:
    """Bytes of a generator's states; follows ``cudnnDropoutGetStatesSize``."""
    size = c_size_t()
    raw.cudnnDropoutGetStatesSize(handle, size)
    return size.value


def dropout_reserve_size(x_desc: TensorDescriptor) -> int:
    """Bytes that hold the mask of a tensor; follows ``cudnnDropoutGetReserveSpaceSize``."""
    size = c_size_t()
    raw.cudnnDropoutGetReserveSpaceSize(x_desc, size)
    return size.value


class DropoutDescriptor(Descriptor):
    """How much is dropped, and the random generator that chooses; ``cudnnSetDropoutDescriptor``.

    The generator's states are in device memory. Every mask that is drawn advances them; the same
    seed gives the same masks on the same kind of GPU, and others on the reference device.

    Parameters
    ----------
    handle : Handle
        Kept: reading the descriptor back needs it.
    rate : float
        Probability with which an element is dropped, from 0 to 1.
    seed : int
        From 0 to 2**64 - 1.
    states : DeviceBuffer or tensor, optional
        At least `dropout_states_size` bytes. Left out: made, and closed with the descriptor.
    restore : bool
        Go on from what `states` holds, saved from another descriptor, instead of starting from the
        seed, which is then only recorded (``cudnnRestoreDropoutDescriptor``).

    Raises
    ------
    ValueError
        If a number is out of range, or `states` is too small.

    Examples
    --------
    >>> with DropoutDescriptor(handle, 0.5, seed=1) as dropout:  # doctest: +SKIP
    ...     y, reserve_space = dropout_forward(handle, x, dropout)
    """

    def __init__(
        self,
        handle: Handle,
        rate: float = 0.0,
        *,
        seed: int = 0,
        states: Any = None,
        restore: bool = False,
    ) -> None:
        self._handle = expect("handle", handle, Handle)
        self._own_states: DeviceBuffer | None = None
        self._states: Any = None
        super().__init__(
            raw.cudnnDropoutDescriptor_t(),
            raw.cudnnCreateDropoutDescriptor,
            raw.cudnnDestroyDropoutDescriptor,
        )
        with self._closed_on_error():
            if restore:
                self.restore(rate, states, seed)
            else:
                self.set(rate, seed, states)

    # -- setting, as C does --------------------------------------------------------------------

    def set(self, rate: float, seed: int, states: Any = None) -> None:
        """Start the generator from a seed; follows ``cudnnSetDropoutDescriptor``.

        `states` left out: the ones that the descriptor has, or new ones.
        """
        rate, seed = _rate(rate), _seed(seed)
        memory = self._memory(states)
        raw.cudnnSetDropoutDescriptor(self, self._handle, rate, memory, memory.nbytes, seed)

    def restore(self, rate: float, states: Any, seed: int = 0) -> None:
        """Go on from saved states; follows ``cudnnRestoreDropoutDescriptor``."""
        rate, seed = _rate(rate), _seed(seed)
        if states is None:
            raise TypeError("states: needed to go on from")
        memory = self._memory(states)
        raw.cudnnRestoreDropoutDescriptor(self, self._handle, rate, memory, memory.nbytes, seed)

    def _memory(self, states: Any) -> Any:
        """`states` as memory that is large enough; it is kept alive, cuDNN holds its address."""
        handle = self._handle
        needed = dropout_states_size(handle)
        if states is None and self._states is None:
            self._own_states = DeviceBuffer(needed, device=handle.device, stream=handle.stream)
            states = self._own_states
        if states is not None:
            given = states
            if not isinstance(states, DeviceBuffer):
                given = imported("states", states, handle)
            if given.nbytes < needed:
                raise ValueError(f"states: {given.nbytes} bytes, {needed} are needed")
            if self._own_states is not None and given is not self._own_states:
                self._own_states.close()
                self._own_states = None
            self._states = given
        return self._states

    # -- reading back --------------------------------------------------------------------------

    def _read(self) -> tuple[float, int, int]:
        rate, states, seed = c_float(), c_void_p(), c_ulonglong()
        raw.cudnnGetDropoutDescriptor(self, self._handle, rate, states, seed)
        return rate.value, states.value or 0, seed.value

    @property
    def rate(self) -> float:
        """Probability with which an element is dropped.

        Setting it leaves the generator alone (``cudnnSetDropoutDescriptor`` without states).
        """
        return self._read()[0]

    @rate.setter
    def rate(self, rate: float) -> None:
        raw.cudnnSetDropoutDescriptor(self, self._handle, _rate(rate), None, 0, 0)

    @property
    def seed(self) -> int:
        """What the generator was started from."""
        return self._read()[2]

    @property
    def states_address(self) -> int:
        """Where cuDNN holds the generator's states."""
        return self._read()[1]

    @property
    def states(self) -> Any:
        """The generator's states: copy them to save them, restore them to repeat what follows."""
        return self._states

    def close(self) -> None:
        """Destroy the descriptor, and the states if it made them. A second call does nothing."""
        super().close()
        if self._own_states is not None:
            self._own_states.close()

    def _held(self) -> dict[str, Any]:
        rate, states, seed = self._read()
        return {"rate": rate, "seed": seed, "states": states}

    def _arguments(self) -> dict[str, Any]:
        if self._handle.closed:  # cuDNN tells nothing without it
            return {"handle": self._handle}
        rate, _, seed = self._read()
        return {"handle": self._handle, "rate": rate, "seed": seed}


def _rate(rate: float) -> float:
    if not 0 <= rate <= 1:
        raise ValueError(f"rate: expected a number from 0 to 1, got {rate}")
    return rate


def _seed(seed: int) -> int:
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed: expected an int from 0 to 2**64 - 1, got {seed}")
    return seed


class DropoutForward(NamedTuple):
    """What `dropout_forward` returns.

    Attributes
    ----------
    y : DeviceTensor, or y as it was given
    reserve_space : DeviceTensor of bytes, or as it was given
        The mask, for `dropout_backward`.
    """

    y: Any
    reserve_space: Any


def dropout_forward(
    handle: Handle,
    x: Any,
    dropout: DropoutDescriptor,
    y: Any = None,
    *,
    reserve_space: Any = None,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> DropoutForward:
    """y = mask * x / (1 - rate), with a new mask; follows ``cudnnDropoutForward``.

    Parameters
    ----------
    x : tensor
        Of any shape of 2 dimensions or more, and any strides; float16, float32 or float64.
    y : tensor, optional
        As many elements of the same type; may be x. Left out: made, in the layout of x.
    reserve_space : DeviceBuffer or tensor, optional
        At least `dropout_reserve_size` bytes, for the mask. Left out: made.
    x_desc, y_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers.

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes or types do not fit together, or memory is too small; the message names the
        argument.
    NotSupportedError
        For other types, bfloat16 among them (cuDNN 9.14 and 9.19).
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        described = x_desc is not None
        x_memory, x_desc = operands.tensor("x")
        expect("dropout", dropout, DropoutDescriptor)
        if y is None:
            shape = x_desc.shape if described else x_memory.shape
            y = operands.make("y", shape, x_desc.data_type)
        y_memory, y_desc = operands.tensor("y")
        _check_fit("x", x_desc, "y", y_desc)
        needed = dropout_reserve_size(x_desc)
        if reserve_space is None:
            reserve_space = DeviceTensor.empty(
                (needed,), "uint8", device=handle.device, stream=handle.stream
            )
        reserve = _reserve(handle, reserve_space, needed)
        raw.cudnnDropoutForward(
            handle,
            dropout,
            x_desc,
            check_memory("x", x_memory, x_desc, handle),
            y_desc,
            check_memory("y", y_memory, y_desc, handle, written=True),
            reserve,
            reserve.nbytes,
        )
    return DropoutForward(y, reserve_space)


def dropout_backward(
    handle: Handle,
    dy: Any,
    dropout: DropoutDescriptor,
    reserve_space: Any,
    dx: Any = None,
    *,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> Any:
    """dx = mask * dy / (1 - rate), with the mask of forward; follows ``cudnnDropoutBackward``.

    Parameters
    ----------
    dy : tensor
        Gradient of y.
    reserve_space : DeviceBuffer or tensor
        What `dropout_forward` returned.
    dx : tensor, optional
        Gradient of x; may be dy. Left out: made, in the layout of dy.

    Returns
    -------
    DeviceTensor, or dx as it was given

    The errors are those of `dropout_forward`.
    """
    with Operands(handle, dy=(dy, dy_desc), dx=(dx, dx_desc)) as operands:
        described = dy_desc is not None
        dy_memory, dy_desc = operands.tensor("dy")
        expect("dropout", dropout, DropoutDescriptor)
        if dx is None:
            shape = dy_desc.shape if described else dy_memory.shape
            dx = operands.make("dx", shape, dy_desc.data_type)
        dx_memory, dx_desc = operands.tensor("dx")
        _check_fit("dy", dy_desc, "dx", dx_desc)
        reserve = _reserve(handle, reserve_space, dropout_reserve_size(dy_desc))
        raw.cudnnDropoutBackward(
            handle,
            dropout,
            dy_desc,
            check_memory("dy", dy_memory, dy_desc, handle),
            dx_desc,
            check_memory("dx", dx_memory, dx_desc, handle, written=True),
            reserve,
            reserve.nbytes,
        )
    return dx


def _check_fit(
    source: str, source_desc: TensorDescriptor, target: str, target_desc: TensorDescriptor
) -> None:
    # Dimensions of size 1, which a descriptor may have more of, change nothing.
    expected, given = ([n for n in d.shape if n != 1] for d in (source_desc, target_desc))
    if expected != given:
        raise ValueError(
            f"{target}: expected shape {source_desc.shape}, that of {source}, got "
            f"{target_desc.shape}"
        )
    if target_desc.data_type != source_desc.data_type:
        raise ValueError(
            f"{target}: expected the type of {source}, {source_desc.data_type.name}, got "
            f"{target_desc.data_type.name}"
        )


def _reserve(handle: Handle, reserve_space: Any, needed: int) -> Any:
    if isinstance(reserve_space, DeviceBuffer):
        memory: Any = reserve_space
    else:
        memory = imported("reserve_space", reserve_space, handle)
    if memory.nbytes < needed:
        raise ValueError(f"reserve_space: {memory.nbytes} bytes, {needed} are needed")
    return memory
