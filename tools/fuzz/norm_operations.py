"""Normalizations of every mode and phase; see `sketch`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cudnn_ctypes.graph import Tensor

from .sketch import OPERATIONS, Given, Results, Sketch, Unfit, named


def _parameter_dims(s: Sketch, mode: str, x: Tensor) -> tuple[int, ...]:
    dims = s.of(x)
    if mode in ("batch", "instance"):
        return s.channels(x)
    if len(dims) < 2:
        raise Unfit("rank 1")
    if len(dims) == 3:
        return (dims[0] if mode == "ada_layer" else 1, 1, dims[2])
    return (dims[0], 1, *dims[2:]) if mode == "ada_layer" else (1, *dims[1:])


def _norms(mode: str) -> None:
    def forward(phase: str) -> Callable[..., Results]:
        def norm(s: Sketch, input: Given = None, scale: Given = None) -> Results:
            x = input
            if x is None:
                x = s.first() if scale is None else s.new((4, *s.of(scale)[1:]))
            dims = _parameter_dims(s, mode, x) if scale is None else s.of(scale)
            bias = None if mode == "rms" else s.new(dims, "float32")
            more: dict[str, Any] = {}
            if phase == "training":
                more["epsilon"] = 1e-5
                if mode == "batch":
                    more["momentum"] = 0.1
                    more["in_running_mean"] = s.new(dims, "float32")
                    more["in_running_var"] = s.new(dims, "float32")
            elif mode in ("batch", "instance"):
                few = dims if mode == "batch" else (s.of(x)[0], *dims[1:])
                more["mean"], more["inv_variance"] = (s.new(few, "float32") for _ in range(2))
            if mode != "batch":
                more["epsilon"] = 1e-5
            scale = s.new(dims, "float32") if scale is None else scale
            return named(s.graph.norm_forward(mode, phase, x, scale, bias, **more))

        return norm

    def backward(
        s: Sketch, grad: Given = None, input: Given = None, scale: Given = None
    ) -> Results:
        if scale is not None:
            dims = (4, *s.of(scale)[1:])
            grad, x = s.new(dims), s.new(dims)
        else:
            given = s.first(grad, input)
            other = s.like(given)
            grad, x = (other, given) if input is not None else (given, other)
        dims = _parameter_dims(s, mode, x) if scale is None else s.of(scale)
        full = s.of(x)
        if mode == "batch":
            few = s.channels(x)
        elif mode == "instance":
            few = (*full[:2], *(1,) * (len(full) - 2))
        else:
            few = tuple(
                size if one == 1 or (axis == 0 and mode == "ada_layer") else 1
                for axis, (size, one) in enumerate(zip(full, dims, strict=True))
            )
        mean = None if mode == "rms" else s.new(few, "float32")
        results = s.graph.norm_backward(
            mode,
            grad,
            x,
            s.new(dims, "float32") if scale is None else scale,
            mean,
            s.new(few, "float32"),
            has_dbias=mode != "rms",
        )
        return named(results)

    OPERATIONS[f"norm_forward {mode} training"] = forward("training")
    OPERATIONS[f"norm_forward {mode} inference"] = forward("inference")
    OPERATIONS[f"norm_backward {mode}"] = backward


for _name in ("batch", "layer", "instance", "rms", "ada_layer"):
    _norms(_name)
