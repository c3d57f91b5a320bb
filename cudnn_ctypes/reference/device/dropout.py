"""Dropout on the reference device.

cuDNN needs a real handle to set a dropout descriptor, so the values set with a made-up handle are
kept here, by the descriptor's address. The states memory holds the position in the stream of random
words (see `dropout`), two 64-bit words: the key, which is the seed, and the next block. A program
that copies this memory and restores it repeats its masks.

Rates outside of 0 to 1 are refused here; cuDNN 9.14 and 9.19 accept them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...raw.descriptors import Dropout
from ..dropout import Position, draw_mask, dropout_backward, dropout_forward
from .call import Call
from .memory import Operand, Use, at
from .registry import bad_param, implements

STATES_SIZE = 16
"""Bytes of the states memory."""


_NEW = Dropout(rate=0.0, seed=0, states=None)
_held: dict[int, Dropout] = {}  # by the descriptor's address


def held(descriptor: Any) -> Dropout:
    """The values of a dropout descriptor or its address; rate 0 if it was never set."""
    address = getattr(descriptor, "value", descriptor)
    return _held.get(address, _NEW)


def draw(dropout: Dropout, count: int) -> NDArray[np.bool_]:
    """The next mask of a descriptor, True where an element is kept; its states advance.

    Raises Refused BAD_PARAM if it has no states.
    """
    if dropout.states is None:
        raise bad_param(
            "dropoutDesc has no states: cudnnSetDropoutDescriptor was not called with any"
        )
    states = _states(dropout.states, "update")
    mask, after = draw_mask(Position(int(states[0]), int(states[1])), count, dropout.rate)
    states[:] = after
    return mask


def _states(address: int, use: Use) -> NDArray[np.uint64]:
    words = at(address, raw.CUDNN_DATA_INT64, (2,), (1,), "states", use)
    return words.view(np.uint64)


# -- the descriptor ----------------------------------------------------------------------------


@implements("cudnnCreateDropoutDescriptor")
def created(call: Call) -> None:
    # An earlier descriptor may have had this address.
    _held.pop(call["dropoutDesc"].contents.value, None)


@implements("cudnnDropoutGetStatesSize")
def get_states_size(call: Call) -> None:
    call.put(sizeInBytes=STATES_SIZE)


@implements("cudnnSetDropoutDescriptor", "cudnnRestoreDropoutDescriptor")
def set_descriptor(call: Call) -> None:
    """Setting writes the states, and without states leaves them; restoring needs states."""
    restores = call.name == "cudnnRestoreDropoutDescriptor"
    call.require("dropoutDesc", *(["states"] if restores else []))
    descriptor, states, rate = call["dropoutDesc"], call["states"], call["dropout"]
    if not 0 <= rate <= 1:
        raise bad_param(f"dropout = {rate} is not from 0 to 1")
    if states is None:
        _held[descriptor.value] = replace(held(descriptor), rate=rate, seed=call["seed"])
        return
    call.buffer("states", STATES_SIZE)
    if not restores:
        _states(states, "write")[:] = Position(call["seed"])
    _held[descriptor.value] = Dropout(rate, call["seed"], states)


@implements("cudnnGetDropoutDescriptor")
def get_descriptor(call: Call) -> None:
    call.require("dropoutDesc")
    values = held(call["dropoutDesc"])
    call.offer(dropout=values.rate, states=values.states, seed=values.seed)


# -- the operation -----------------------------------------------------------------------------


@implements("cudnnDropoutForward")
def forward(call: Call) -> None:
    call.require("dropoutDesc")
    x, y = call.operands("x", "y")
    reserve = _checked(call, x)
    values, dropout = x.load(), held(call["dropoutDesc"])
    mask = draw(dropout, values.size)
    reserve[:] = np.packbits(mask, bitorder="little")
    mask = mask.reshape(values.shape)
    result = dropout_forward(values, mask, dropout.rate, compute_dtype=x.compute_dtype)
    y.store(result.reshape(y.shape))


@implements("cudnnDropoutBackward")
def backward(call: Call) -> None:
    call.require("dropoutDesc")
    dy, dx = call.operands("dy", "dx")
    reserve = _checked(call, dy)
    values, rate = dy.load(), held(call["dropoutDesc"]).rate
    bits = np.unpackbits(reserve, count=values.size, bitorder="little")
    mask = bits.view(np.bool_).reshape(values.shape)
    result = dropout_backward(rate, dy=values, mask=mask, compute_dtype=dy.compute_dtype)
    dx.store(result.reshape(dx.shape))


def _checked(call: Call, source: Operand) -> NDArray[np.uint8]:
    """The part of the reserve space that holds the mask, a bit for each element."""
    call.check()
    count = math.prod(source.shape)
    # cudnnDropoutGetReserveSpaceSize takes no handle: cuDNN answers it, with whole 32-bit words.
    call.buffer("reserveSpace", -(-count // 32) * 4)
    return call.array("reserveSpace", raw.CUDNN_DATA_UINT8, -(-count // 8))
