"""One small attention that several tests use: two heads, all projections, biases."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudnn_ctypes.reference.attention import attention_forward, visible_keys, weight_shapes

TQ, TK, N = 4, 5, 3
HEADS, SIZES, PROJECTIONS = 2, (6, 5, 4), (3, 3, 2, 6)
OPTIONS: dict[str, Any] = {f"{name}_size": n for name, n in zip("qkv", SIZES, strict=True)}
OPTIONS |= {f"{name}_projection": n for name, n in zip("qkvo", PROJECTIONS, strict=True)}
OPTIONS |= {"qo_max_length": TQ, "kv_max_length": TK, "max_batch": N, "scaler": 0.5, "biases": True}
SHAPES = weight_shapes(HEADS, SIZES, PROJECTIONS, biases=True)
CLOSE = {"rtol": 2e-3, "atol": 2e-3}  # float32 operands may be rounded to TF32
FMA_CLOSE = {"rtol": 1e-5, "atol": 1e-5}  # some dozens of float32 roundings of numbers around 3


def normal(*shape: int, seed: int = 0) -> Any:
    """The same random numbers every time."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def arrays() -> dict[str, Any]:
    """All weights and biases."""
    return {name: normal(*shape, seed=i) for i, (name, shape) in enumerate(SHAPES.items())}


def expected(residuals: Any = None, **window: Any) -> Any:
    """The output without padding, in float64."""
    q, k, v = normal(TQ, N, 6), normal(TK, N, 5, seed=1), normal(TK, N, 4, seed=2)
    whole = np.full((N, 1), 99)
    visible = visible_keys(
        window.get("low", [0] * TQ), window.get("high", [TK] * TQ), whole, whole, TK
    )
    four = [x[:, :, None].astype(np.float64) for x in (q, k, v)]
    return attention_forward(
        *four, arrays(), heads=HEADS, scaler=0.5, visible=visible, residuals=residuals
    ).y[:, :, 0]
