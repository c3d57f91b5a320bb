"""The gradients of `attention.attention_forward`, going back through its formulas.

From dy to the heads, with dropout's factors in the same places as in forward::

    do    = dropout(dy)                       (the residuals' gradient is dy itself)
    dh_i  = W_O,i^T do                        or the i-th part of do
    dV'   = sum over the queries of  dropout(a) dh^T
    da    = dropout(V'^T dh)
    ds    = a * (da - sum over the keys of a * da)                     through the softmax
    dq'   = scaler * K' ds                    dK' = sum over the queries of  scaler * q' ds^T

then to the operands and to the weights::

    dq    = sum over the heads of  W_Q,i^T dq'            (likewise k and v)
    dW_Q,i = sum over the steps and sequences of  dq' q^T     db_Q,i = the same sum of dq'
    dW_O,i = sum over the steps and sequences of  do h_i^T    db_O   = the same sum of do

db_K is 0 but for rounding: the same number added to all scores of a query changes no softmax.

cuDNN splits this in the same place: `cudnnMultiHeadAttnBackwardData`, then
`cudnnMultiHeadAttnBackwardWeights`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .attention import (
    AttentionForwardResult,
    Weights,
    by_sequence,
    by_step,
    join_heads,
    project,
    times,
)
from .blas import product


@dataclass(frozen=True)
class AttentionGradients:
    """The gradients from `attention_backward_data`.

    Attributes
    ----------
    dq, dk, dv
        In the operands' shapes and dtypes. dq excludes the gradient through residuals.
    dq_projected, dk_projected, dv_projected
        (H, T, N, B, P), for the weights' gradients.
    """

    dq: NDArray[Any]
    dk: NDArray[Any]
    dv: NDArray[Any]
    dq_projected: NDArray[Any]
    dk_projected: NDArray[Any]
    dv_projected: NDArray[Any]


def attention_backward_data(
    *,
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    dy: NDArray[Any],
    attended: AttentionForwardResult,
    weights: Weights | None = None,
    scaler: float = 1.0,
    attention_dropout: NDArray[Any] | None = None,
    output_dropout: NDArray[Any] | None = None,
) -> AttentionGradients:
    """The gradients by q, k and v: `cudnnMultiHeadAttnBackwardData`.

    Parameters
    ----------
    dy
        (Tq, N, B, O).
    attended
        The result of forward for the same operands, weights and options. Its attention is 0 for
        invisible keys. Its dtype is the dtype of the computation.

    The other parameters are those of `attention.attention_forward`.

    Returns
    -------
    AttentionGradients
        Zero at padding, and for keys that no query sees.

    Raises
    ------
    ValueError
        If the shape of `dy` is not the output's.
    """
    weights = {} if weights is None else weights
    dtype = attended.attention.dtype
    _check_dy(dy, attended)
    do = times(dy.astype(dtype), output_dropout)
    dh = _to_heads(do, _get(weights, "o_weights", dtype), attended.heads)

    dh, v_, k_, q_ = (by_sequence(x) for x in (dh, attended.v, attended.k, attended.q))

    dv_ = by_step(product(times(attended.attention, attention_dropout).swapaxes(-1, -2), dh))
    da = product(dh, v_.swapaxes(-1, -2))
    ds = softmax_backward(attended.attention, times(da, attention_dropout))
    ds = dtype.type(scaler) * ds
    dq_ = by_step(product(ds, k_))
    dk_ = by_step(product(ds.swapaxes(-1, -2), q_))
    if k.shape[2] == 1:  # the beam's sequences have their keys and values in common
        dk_, dv_ = (x.sum(axis=3, keepdims=True) for x in (dk_, dv_))

    def back(projected: NDArray[Any], name: str, x: NDArray[Any]) -> NDArray[Any]:
        matrices = _get(weights, name, dtype)
        result: NDArray[Any]
        if matrices is None:
            result = projected.sum(axis=0)
        else:
            result = join_heads(projected, matrices.swapaxes(1, 2), None)
        return result.astype(x.dtype)

    return AttentionGradients(
        back(dq_, "q_weights", q),
        back(dk_, "k_weights", k),
        back(dv_, "v_weights", v),
        dq_,
        dk_,
        dv_,
    )


def attention_backward_weights(
    *,
    q: NDArray[Any],
    k: NDArray[Any],
    v: NDArray[Any],
    dy: NDArray[Any],
    attended: AttentionForwardResult,
    gradients: AttentionGradients,
    weights: Weights,
    output_dropout: NDArray[Any] | None = None,
) -> dict[str, NDArray[Any]]:
    """The gradients by all weights and biases: `cudnnMultiHeadAttnBackwardWeights`.

    Parameters
    ----------
    attended, gradients
        The results of forward and of `attention_backward_data`.

    Returns
    -------
    dict
        Gradients by the names of `weights`, in the shapes and dtypes of the weights.

    Raises
    ------
    ValueError
        If the shape of `dy` is not the output's.
    """
    dtype = attended.attention.dtype
    _check_dy(dy, attended)
    do = times(dy.astype(dtype), output_dropout)
    results: dict[str, NDArray[Any]] = {}
    for name, x, dx_ in (
        ("q", q, gradients.dq_projected),
        ("k", k, gradients.dk_projected),
        ("v", v, gradients.dv_projected),
    ):
        results[f"{name}_weights"] = product(_rows(dx_).swapaxes(1, 2), _rows(x.astype(dtype)))
        results[f"{name}_biases"] = dx_.sum(axis=(1, 2, 3))[:, :, None]
    results["o_weights"] = product(_rows(do).swapaxes(0, 1), _rows(attended.heads))
    results["o_biases"] = do.sum(axis=(0, 1, 2))[None, :, None]
    return {name: results[name].astype(array.dtype) for name, array in weights.items()}


def softmax_backward(a: NDArray[Any], da: NDArray[Any]) -> NDArray[Any]:
    """a * (da - sum(a * da)) along the last axis; 0 where a is 0."""
    result: NDArray[Any] = a * (da - (a * da).sum(axis=-1, keepdims=True))
    return result


def _to_heads(do: NDArray[Any], weights: NDArray[Any] | None, heads: NDArray[Any]) -> NDArray[Any]:
    """(T, N, B, O) to the heads' (H, T, N, B, P): W^T do, or each head's part of do."""
    if weights is None:
        count, *steps, length = heads.shape
        return np.moveaxis(do.reshape(*steps, count, length), -2, 0)
    return project(do, weights.swapaxes(1, 2), None, len(weights))


def _rows(x: NDArray[Any]) -> NDArray[Any]:
    """(..., T, N, B, V) to (..., T * N * B, V)."""
    return x.reshape(*x.shape[:-4], -1, x.shape[-1])


def _get(weights: Weights, name: str, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    return weights[name].astype(dtype) if name in weights else None


def _check_dy(dy: NDArray[Any], attended: AttentionForwardResult) -> None:
    if dy.shape != attended.y.shape:
        raise ValueError(f"dy must have shape {attended.y.shape}, got {dy.shape}")
