"""Dropout, forward and backward."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from .. import raw
from ..arguments import expect, flag, integer
from ..handle import Handle
from ..raw.ctypes_support import OpaquePointer
from ..raw.descriptors import Dropout
from ..runtime import DeviceBuffer
from .descriptor import Descriptor, number, read_back
from .documentation import documented, launched
from .operands import Made, Operands, imported, real
from .tensor import TensorDescriptor

_H = TypeVar("_H", bound=OpaquePointer)


@documented
def dropout_states_size(handle: Handle) -> int:
    """Bytes of a generator's states; follows ``cudnnDropoutGetStatesSize``.

    Examples
    --------
    >>> with Handle() as handle:
    ...     dropout_states_size(handle) > 0
    True
    """
    return number(raw.cudnnDropoutGetStatesSize, handle)


@documented
def dropout_reserve_size(x_desc: TensorDescriptor) -> int:
    """Bytes that hold the mask of a tensor; follows ``cudnnDropoutGetReserveSpaceSize``.

    Examples
    --------
    >>> dropout_reserve_size(TensorDescriptor((1, 1, 4, 4))) >= 2  # a bit for each element
    True
    """
    return number(raw.cudnnDropoutGetReserveSpaceSize, x_desc)


class DropoutDescriptor(Descriptor[raw.cudnnDropoutDescriptor_t]):
    """How much is dropped, and the random generator that chooses; ``cudnnSetDropoutDescriptor``.

    The generator's states are in device memory. Every mask that is drawn advances them; the same
    seed gives the same masks on the same kind of GPU, and others on the reference device.

    Parameters
    ----------
    handle : Handle
        Kept, for setting the descriptor again.
    rate : float
        Probability with which an element is dropped, from 0 to 1.
    seed : int
        From 0 to 2**64 - 1.
    states : DeviceBuffer or tensor, optional
        At least `dropout_states_size` bytes. Default: allocated, and closed with the descriptor.
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

    _has_copies = False
    _instead = "it owns the state of its random numbers; create another one"

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
        super().__init__(raw.cudnnDropoutDescriptor_t())
        with self._closed_on_error():
            if flag("restore", restore):
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
            memory = states
            if not isinstance(states, DeviceBuffer):
                memory = imported("states", states, handle)
            if memory.nbytes < needed:
                raise ValueError(f"states: {memory.nbytes} bytes, {needed} are needed")
            if self._own_states is not None and memory is not self._own_states:
                self._own_states.close()
                self._own_states = None
            self._states = memory
        return self._states

    # -- reading back --------------------------------------------------------------------------

    @property
    def rate(self) -> float:
        """Probability with which an element is dropped.

        Setting it leaves the generator alone (``cudnnSetDropoutDescriptor`` without states).
        """
        return self._record(Dropout).rate

    @rate.setter
    def rate(self, rate: float) -> None:
        raw.cudnnSetDropoutDescriptor(self, self._handle, _rate(rate), None, 0, 0)

    seed: int = read_back(Dropout, "What the generator was started from.")

    @property
    def states_address(self) -> int:
        """Where cuDNN holds the generator's states."""
        return self._record(Dropout).states or 0

    @property
    def states(self) -> Any:
        """The generator's states: copy them to save them, restore them to repeat what follows."""
        return self._states

    def close(self) -> None:
        """Destroy the descriptor, and the states if it made them. A second call does nothing."""
        super().close()
        if self._own_states is not None:
            self._own_states.close()

    def _arguments(self) -> dict[str, Any]:
        arguments = self._held()
        arguments.pop("states", None)
        return {"handle": self._handle, **arguments}


class UsesDropout(Descriptor[_H]):
    """A descriptor in which cuDNN keeps addresses of dropout descriptors."""

    _dropouts: Mapping[int, Any] = MappingProxyType({})

    def _keep(self, *dropouts: Any) -> None:
        """Keep the dropout descriptors alive, since cuDNN holds their addresses only."""
        self._dropouts = {d._as_parameter_.value: d for d in dropouts if d is not None}

    def _dropout_at(self, address: int | None) -> Any:
        """The dropout descriptor at an address: the one that is kept, or layer 1's."""
        if address is None:
            return None
        kept = self._dropouts.get(address)
        if kept is None:
            kept = raw.cudnnDropoutDescriptor_t()
            kept.value = address
        return kept

    @property
    def descriptors(self) -> tuple[Descriptor[Any], ...]:
        """Itself, and the descriptors that are kept of those that cuDNN will look at."""
        if not self._dropouts:
            return (self,)
        addresses = [self._held().get(f"{where}dropout") for where in ("", "attention_", "output_")]
        kept = dict.fromkeys(address for address in addresses if address in self._dropouts)
        return (self, *(self._dropouts[address] for address in kept if address))

    def _check_dropouts(self) -> None:
        for descriptor in self.descriptors:
            _ = descriptor._as_parameter_  # ClosedError, where cuDNN would follow a dead pointer


def _rate(rate: float) -> float:
    rate = real("rate", rate)
    if not 0 <= rate <= 1:
        raise ValueError(f"rate: expected a number from 0 to 1, got {rate}")
    return rate


def _seed(seed: int) -> int:
    seed = integer("seed", seed)
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed: expected an int from 0 to 2**64 - 1, got {seed}")
    return seed


class DropoutResult(NamedTuple):
    """Result of `dropout_forward`.

    Attributes
    ----------
    y : DeviceTensor, or y as it was given
    reserve_space : DeviceTensor of bytes, or as it was given
        The mask, for `dropout_backward`.
    """

    y: Any
    reserve_space: Any


@launched
def dropout_forward(
    handle: Handle,
    x: Any,
    dropout: DropoutDescriptor,
    y: Any = None,
    *,
    reserve_space: Any = None,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> DropoutResult:
    """y = mask * x / (1 - rate), with a new mask; follows ``cudnnDropoutForward``.

    Parameters
    ----------
    x : tensor
        Of any shape of 2 dimensions or more, and any strides; float16, float32 or float64.
    y : tensor, optional
        As many elements of the same type; may be x. Default: allocated, in the layout of x.
    reserve_space : DeviceBuffer or tensor, optional
        At least `dropout_reserve_size` bytes, for the mask. Default: allocated.

    Raises
    ------
    NotSupportedError
        For other types, bfloat16 among them (cuDNN 9.14 and 9.19).

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.arange(16, dtype="float32").reshape(1, 1, 4, 4))

    >>> with Handle() as handle, DropoutDescriptor(handle, 0.5, seed=1) as dropout:
    ...     y, reserve_space = dropout_forward(handle, x, dropout)
    >>> bool(np.isin(y.numpy() / np.maximum(x.numpy(), 1), (0, 2)).all())
    True
    """
    with Operands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        expect("dropout", dropout, DropoutDescriptor)
        if y is None:
            y = _make_like(operands, "y", "x")
        operands.check(raw.cudnnDropoutForward)
        needed = dropout_reserve_size(operands.describe("x"))
        if reserve_space is None:
            reserve_space = operands.new((needed,), "uint8")
        operands.launch(
            raw.cudnnDropoutForward,
            dropoutDesc=dropout,
            reserveSpace=operands.room("reserve_space", reserve_space, needed),
        )
    return DropoutResult(y, reserve_space)


@launched
def dropout_backward(
    handle: Handle,
    dropout: DropoutDescriptor,
    *,
    dy: Any,
    reserve_space: Any,
    dx: Made | None = None,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
) -> Made:
    """dx = mask * dy / (1 - rate), with the mask of forward; follows ``cudnnDropoutBackward``.

    Parameters
    ----------
    dy : tensor
        Gradient of y.
    reserve_space : DeviceBuffer or tensor
        What `dropout_forward` returned.
    dx : tensor, optional
        Gradient of x; may be dy. Default: allocated, in the layout of dy.

    The errors are those of `dropout_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 1, 4, 4), 1, "float32")
    >>> with Handle() as handle, DropoutDescriptor(handle, 0.5, seed=1) as dropout:
    ...     y, reserve_space = dropout_forward(handle, x, dropout)
    ...     dx = dropout_backward(handle, dropout, dy=x, reserve_space=reserve_space)
    >>> np.array_equal(dx.numpy(), y.numpy())
    True
    """
    with Operands(handle, dy=(dy, dy_desc), dx=(dx, dx_desc)) as operands:
        expect("dropout", dropout, DropoutDescriptor)
        if dx is None:
            dx = _make_like(operands, "dx", "dy")
        operands.check(raw.cudnnDropoutBackward)
        needed = dropout_reserve_size(operands.describe("dy"))
        operands.launch(
            raw.cudnnDropoutBackward,
            dropoutDesc=dropout,
            reserveSpace=operands.room("reserve_space", reserve_space, needed),
        )
    return dx


def _make_like(operands: Operands, name: str, source: str) -> Any:
    """Make the result `name` in the plain layout, whatever the strides of `source` are."""
    desc = operands.describe(source)
    return operands.make(name, operands.shape_of(source), desc.data_type)
