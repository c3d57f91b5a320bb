"""Dropout on the reference device.

cuDNN sets a dropout descriptor only together with a handle, so a made-up handle cannot set a real
one: what the descriptor would hold is kept here, by its address. The states memory holds the
position in the stream of random words (see `dropout`), two 64-bit words: the key, which is the
seed, and the next block. A program that copies this memory and restores it repeats its masks.

Rates outside of 0 to 1 are refused here; cuDNN 9.14 and 9.19 take them. As there, BFLOAT16 is not
supported.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import data_type_name
from ...raw.descriptors import Tensor
from ..dropout import Position, draw_mask, dropout_backward, dropout_forward
from .dispatch import Refused, follows, implements
from .held import read
from .memory import Operand, Use, at, require

__all__ = ["STATES_SIZE", "Dropout", "draw", "held"]

STATES_SIZE = 16
"""Bytes of the states memory."""

FLOATING = (raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF)


@dataclass(frozen=True)
class Dropout:
    """What a dropout descriptor holds. `states` is an address, None for NULL."""

    rate: float = 0.0
    states: int | None = None
    seed: int = 0


_held: dict[int, Dropout] = {}  # by the descriptor's address


def held(descriptor: Any) -> Dropout:
    """What a dropout descriptor, or the address of one, holds; nothing dropped if never set."""
    address = getattr(descriptor, "value", descriptor)
    return _held.get(address, Dropout())


def draw(dropout: Dropout, count: int) -> NDArray[np.bool_]:
    """The next mask of a descriptor, True where an element is kept; its states advance.

    Raises
    ------
    Refused
        BAD_PARAM if it has no states.
    """
    if dropout.states is None:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            "dropoutDesc has no states: cudnnSetDropoutDescriptor was not called with any",
        )
    states = _states(dropout.states, "update")
    mask, after = draw_mask(Position(int(states[0]), int(states[1])), count, dropout.rate)
    states[:] = after
    return mask


def _states(address: int, use: Use) -> NDArray[np.uint64]:
    words = at(address, raw.CUDNN_DATA_INT64, (2,), (1,), "states", use)
    return words.view(np.uint64)


# -- the descriptor ----------------------------------------------------------------------------


@follows("cudnnCreateDropoutDescriptor")
def created(dropoutDesc: Any) -> None:
    # An earlier descriptor may have had this address.
    descriptor = getattr(dropoutDesc, "value", None) or dropoutDesc.contents.value
    _held.pop(descriptor, None)


@implements("cudnnDropoutGetStatesSize")
def get_states_size(handle: Any, sizeInBytes: Any) -> None:
    require(sizeInBytes=sizeInBytes)
    sizeInBytes.contents.value = STATES_SIZE


@implements("cudnnSetDropoutDescriptor")
def set_descriptor(
    dropoutDesc: Any,
    handle: Any,
    dropout: float,
    states: int | None,
    stateSizeInBytes: int,
    seed: int,
) -> None:
    require(dropoutDesc=dropoutDesc)
    _check(dropout, states, stateSizeInBytes)
    if states is None:  # only the rate is set
        _held[dropoutDesc.value] = replace(held(dropoutDesc), rate=dropout)
        return
    _states(states, "write")[:] = Position(seed)
    _held[dropoutDesc.value] = Dropout(dropout, states, seed)


@implements("cudnnRestoreDropoutDescriptor")
def restore_descriptor(
    dropoutDesc: Any,
    handle: Any,
    dropout: float,
    states: int | None,
    stateSizeInBytes: int,
    seed: int,
) -> None:
    require(dropoutDesc=dropoutDesc, states=states)
    _check(dropout, states, stateSizeInBytes)
    _held[dropoutDesc.value] = Dropout(dropout, states, seed)


def _check(rate: float, states: int | None, size: int) -> None:
    if not 0 <= rate <= 1:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"dropout = {rate} is not from 0 to 1")
    if states is not None and size < STATES_SIZE:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"stateSizeInBytes = {size} is less than {STATES_SIZE}"
        )


@implements("cudnnGetDropoutDescriptor")
def get_descriptor(dropoutDesc: Any, handle: Any, dropout: Any, states: Any, seed: Any) -> None:
    require(dropoutDesc=dropoutDesc)
    values = held(dropoutDesc)
    for pointer, value in ((dropout, values.rate), (states, values.states), (seed, values.seed)):
        if pointer:
            pointer.contents.value = value


# -- the operation -----------------------------------------------------------------------------


@implements("cudnnDropoutForward")
def forward(
    handle: Any,
    dropoutDesc: Any,
    xdesc: Any,
    x: int | None,
    ydesc: Any,
    y: int | None,
    reserveSpace: int | None,
    reserveSpaceSizeInBytes: int,
) -> None:
    require(dropoutDesc=dropoutDesc)
    source = Operand("x", read(Tensor, xdesc, "xdesc"), x)
    target = Operand("y", read(Tensor, ydesc, "ydesc"), y)
    reserve = _checked(source, target, reserveSpace, reserveSpaceSizeInBytes, "write")
    values = source.load()
    dropout = held(dropoutDesc)
    mask = draw(dropout, values.size)
    reserve[:] = np.packbits(mask, bitorder="little")
    dtype = _compute_dtype(source)
    result = dropout_forward(values, mask.reshape(values.shape), dropout.rate, compute_dtype=dtype)
    target.store(result.reshape(target.described.shape))


@implements("cudnnDropoutBackward")
def backward(
    handle: Any,
    dropoutDesc: Any,
    dydesc: Any,
    dy: int | None,
    dxdesc: Any,
    dx: int | None,
    reserveSpace: int | None,
    reserveSpaceSizeInBytes: int,
) -> None:
    require(dropoutDesc=dropoutDesc)
    source = Operand("dy", read(Tensor, dydesc, "dydesc"), dy)
    target = Operand("dx", read(Tensor, dxdesc, "dxdesc"), dx)
    reserve = _checked(source, target, reserveSpace, reserveSpaceSizeInBytes, "read")
    values = source.load()
    mask = np.unpackbits(reserve, count=values.size, bitorder="little").view(np.bool_)
    dtype = _compute_dtype(source)
    result = dropout_backward(
        values, mask.reshape(values.shape), held(dropoutDesc).rate, compute_dtype=dtype
    )
    target.store(result.reshape(target.described.shape))


def _compute_dtype(operand: Operand) -> type[Any]:
    return np.float64 if operand.described.data_type == raw.CUDNN_DATA_DOUBLE else np.float32


def _checked(
    source: Operand, target: Operand, address: int | None, size: int, use: Use
) -> NDArray[np.uint8]:
    """The part of the reserve space that holds the mask, a bit for each element."""
    data_type = source.described.data_type
    if data_type not in FLOATING:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED, f"dropout of {data_type_name(data_type)} tensors"
        )
    if target.described.data_type != data_type:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"{target.name} is {data_type_name(target.described.data_type)}, {source.name} is "
            f"{data_type_name(data_type)}",
        )
    counts = [int(np.prod(operand.described.shape)) for operand in (source, target)]
    if counts[0] != counts[1]:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"{source.name} has {counts[0]} elements, {target.name} has {counts[1]}",
        )
    if source.address == target.address and source.described.strides != target.described.strides:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"{source.name} is {target.name}, with other strides"
        )
    # cudnnDropoutGetReserveSpaceSize takes no handle: cuDNN answers it, with whole 32-bit words.
    needed = -(-counts[0] // 32) * 4
    if size < needed:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"reserveSpaceSizeInBytes = {size} is less than the {needed} bytes that "
            f"cudnnDropoutGetReserveSpaceSize gives",
        )
    nbytes = -(-counts[0] // 8)
    return at(address, raw.CUDNN_DATA_UINT8, (nbytes,), (1,), "reserveSpace", use)
