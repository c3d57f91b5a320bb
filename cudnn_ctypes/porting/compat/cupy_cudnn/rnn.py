"""The passes of recurrent networks, on packed sequences and on padded ones (``_ex``).

`lengths` of the former are the sizes of the batch at each time step, of the latter the lengths of
the sequences, a NumPy array of int32.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .... import raw
from .arrays import Session, address_of, contiguous, size_of
from .layers import DropoutStates
from .rnn_network import network_of

__all__ = [
    "rnn_backward_data",
    "rnn_backward_data_ex",
    "rnn_backward_weights",
    "rnn_backward_weights_ex",
    "rnn_forward_inference",
    "rnn_forward_inference_ex",
    "rnn_forward_training",
    "rnn_forward_training_ex",
]


def _output_shape(direction: int, hx: Any, xs: Any) -> tuple[int, ...]:
    directions = 2 if direction == raw.CUDNN_BIDIRECTIONAL else 1
    return (*xs.shape[:-1], directions * hx.shape[2])


def _like(session: Session, array: Any, xs: Any) -> Any:
    """A new array like a state; an empty one for None."""
    return session.empty((0,) if array is None else array.shape, xs.dtype)


def _forward(
    states: DropoutStates,
    direction_mode: int,
    rnn_mode: int,
    hx: Any,
    cx: Any,
    w: Any,
    xs: Any,
    lengths: Any,
    *,
    padded: bool,
    training: bool,
) -> tuple[Any, ...]:
    hx, w, xs = contiguous(hx, "hx"), contiguous(w, "w"), contiguous(xs, "xs")
    cx = None if cx is None else contiguous(cx, "cx")
    with network_of(states, direction_mode, rnn_mode, hx, xs, lengths, padded) as network:
        s = network.session
        ys = s.empty(_output_shape(direction_mode, hx, xs), xs.dtype)
        hy, cy = _like(s, hx, xs), _like(s, cx, xs)
        reserve_space = network.reserve_space() if training else None
        network.function("ForwardTraining" if training else "ForwardInference")(
            *network.begin,
            *network.sequences(xs),
            *network.state(hx),
            *network.state(cx),
            *network.weights(w),
            *network.sequences(ys, written=True),
            *network.state(hy, written=True),
            *network.state(cy, written=True),
            *((0,) * 8 if padded else ()),
            *network.workspace,
            *((address_of(reserve_space), size_of(reserve_space)) if training else ()),
        )
    return (reserve_space, hy, cy, ys) if training else (hy, cy, ys)


def _backward_data(
    states: DropoutStates,
    direction_mode: int,
    rnn_mode: int,
    hx: Any,
    cx: Any,
    w: Any,
    xs: Any,
    ys: Any,
    reserve_space: Any,
    dhy: Any,
    dcy: Any,
    dys: Any,
    lengths: Any,
    *,
    padded: bool,
) -> tuple[Any, Any, Any]:
    hx, w, xs, ys = contiguous(hx, "hx"), contiguous(w, "w"), contiguous(xs), contiguous(ys)
    dhy, dys = contiguous(dhy, "dhy"), contiguous(dys, "dys")
    cx = None if cx is None else contiguous(cx, "cx")
    dcy = None if cx is None or dcy is None else contiguous(dcy, "dcy")
    with network_of(states, direction_mode, rnn_mode, hx, xs, lengths, padded) as network:
        s = network.session
        dxs, dhx, dcx = s.empty(xs.shape, xs.dtype), _like(s, hx, xs), _like(s, cx, xs)
        network.function("BackwardData")(
            *network.begin,
            *network.sequences(ys),
            *network.sequences(dys),
            *((0, 0) if padded else ()),
            *network.state(dhy),
            *network.state(dcy),
            *network.weights(w),
            *network.state(hx),
            *network.state(cx),
            *network.sequences(dxs, written=True),
            *network.state(dhx, written=True),
            *network.state(dcx, written=True),
            *((0, 0) if padded else ()),
            *network.workspace,
            *(address_of(reserve_space), size_of(reserve_space)),
        )
    return dhx, dcx, dxs


def _backward_weights(
    states: DropoutStates,
    direction_mode: int,
    rnn_mode: int,
    xs: Any,
    hx: Any,
    ys: Any,
    w: Any,
    reserve_space: Any,
    lengths: Any,
    *,
    padded: bool,
) -> Any:
    xs, hx, ys = contiguous(xs, "xs"), contiguous(hx, "hx"), contiguous(ys, "ys")
    with network_of(states, direction_mode, rnn_mode, hx, xs, lengths, padded) as network:
        dw = network.session.zeros(w.shape, w.dtype)
        network.function("BackwardWeights")(
            *network.begin,
            *network.sequences(xs),
            *network.state(hx),
            *network.sequences(ys),
            *network.workspace,
            *network.weights(dw, written=True),
            *(address_of(reserve_space), size_of(reserve_space)),
        )
    return dw


def _public(run: Callable[..., Any], returns: str, **options: bool) -> Callable[..., Any]:
    """One of CuPy's functions: `run` with fixed options."""
    name = f"rnn{run.__name__}{'_ex' if options['padded'] else ''}"
    if "training" in options:
        name = name.replace("_forward", f"_forward_{_KINDS[options['training']]}")
    parameters = inspect.signature(run).parameters.values()
    shown = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    signature = inspect.Signature(shown)

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        return run(*bound.args, **options)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = f"{returns}{', for padded sequences' if options['padded'] else ''}."
    return function


_KINDS = {False: "inference", True: "training"}
_STATES = "hy, cy (empty but of an LSTM) and ys"
_GRADIENTS = "dhx, dcx (empty but of an LSTM) and dxs"

rnn_forward_inference: Callable[..., Any] = _public(_forward, _STATES, padded=False, training=False)
rnn_forward_inference_ex: Callable[..., Any] = _public(
    _forward, _STATES, padded=True, training=False
)
rnn_forward_training: Callable[..., Any] = _public(
    _forward, f"Reserve space, {_STATES}", padded=False, training=True
)
rnn_forward_training_ex: Callable[..., Any] = _public(
    _forward, f"Reserve space, {_STATES}", padded=True, training=True
)
rnn_backward_data: Callable[..., Any] = _public(_backward_data, _GRADIENTS, padded=False)
rnn_backward_data_ex: Callable[..., Any] = _public(_backward_data, _GRADIENTS, padded=True)
rnn_backward_weights: Callable[..., Any] = _public(
    _backward_weights, "The gradient of w", padded=False
)
rnn_backward_weights_ex: Callable[..., Any] = _public(
    _backward_weights, "The gradient of w", padded=True
)
