"""Multi-head attention: `cudnnMultiHeadAttnForward`, after Vaswani et al. (2017).

Every head i projects queries, keys and values with its own matrices, if there are any::

    q' = W_Q,i q + b_Q,i        K' = W_K,i K + b_K,i        V' = W_V,i V + b_V,i

Vectors are columns here, as in cuDNN's documentation. A query looks at the keys in its window::

    a_i = softmax(scaler * K'^T q')       0 outside of the window; 0 everywhere if that is empty
    h_i = V' dropout(a_i)

and the heads are added up after a projection each, or stacked on each other without one::

    o   = sum over the heads of W_O,i h_i, + b_O              or   [h_0; h_1; ...]
    y = dropout(o) + residual

Sequences are arrays (T, N, B, V): time steps, batch, beam, vector, the order of
`cudnnSeqDataAxis_t`. In the beam of a batch entry there are several sequences of queries; they have
one sequence of keys and values in common (B = 1, CUDNN_ATTN_QUERYMAP_ALL_TO_ONE) or one each
(CUDNN_ATTN_QUERYMAP_ONE_TO_ONE, which cuDNN 9.28 refuses with a beam of 2 or more). Shorter
sequences are padded up to T steps. A padding query sees no key, and no query sees a padding key.

The gradients go back through these formulas. From dy to the heads, with dropout's factors in the
same places as in forward::

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .blas import product
from .tiles import Array

Weights = Mapping[str, Array]

# In the order of cudnnMultiHeadAttnWeightKind_t, CUDNN_MH_ATTN_Q_WEIGHTS first.
WEIGHT_NAMES = (
    "q_weights",
    "k_weights",
    "v_weights",
    "o_weights",
    "q_biases",
    "k_biases",
    "v_biases",
    "o_biases",
)


@dataclass(frozen=True)
class AttentionForwardResult:
    """The result of `attention_forward`, with the intermediate results that the gradients need.

    H is the number of heads, P the length of a projected vector.

    Attributes
    ----------
    y
        (Tq, N, B, O).
    q, k, v
        The projected vectors, (H, T, N, B, P).
    attention
        (H, N, B, Tq, Tk): after the softmax, before dropout. Rows add up to 1, or to 0 for an empty
        window.
    heads
        (H, Tq, N, B, P): the heads' vectors h.
    """

    y: Array
    q: Array
    k: Array
    v: Array
    attention: Array
    heads: Array


def weight_shapes(
    heads: int,
    sizes: Sequence[int],
    projections: Sequence[int] = (0, 0, 0, 0),
    *,
    biases: bool = False,
) -> dict[str, tuple[int, int, int]]:
    """The shapes of the existing weights and biases, equal to `cudnnGetMultiHeadAttnWeights`'s.

    Weights are (heads, rows, columns) and biases (heads, rows, 1). The output's biases are shared
    by all heads: (1, rows, 1).

    Parameters
    ----------
    sizes
        Vector lengths of q, k and v.
    projections
        Vector lengths of q, k, v and y after their projections; 0 for no projection.

    Examples
    --------
    >>> weight_shapes(2, (6, 5, 4), (3, 3, 0, 7), biases=True)["o_weights"]
    (2, 7, 4)
    """
    q, k, v, o = projections
    columns = (*sizes, v or sizes[2])
    shapes = {
        name: (heads, rows, width)
        for name, rows, width in zip(WEIGHT_NAMES[:4], projections, columns, strict=True)
        if rows
    }
    if biases:
        for name, rows, owners in zip(
            WEIGHT_NAMES[4:], (q, k, v, o), (heads, heads, heads, 1), strict=True
        ):
            if rows:
                shapes[name] = (owners, rows, 1)
    return shapes


def visible_keys(
    low: ArrayLike, high: ArrayLike, q_lengths: Array, k_lengths: Array, k_steps: int
) -> NDArray[np.bool_]:
    """A mask of the keys visible to each query: low <= key < high, within both lengths.

    Parameters
    ----------
    low, high
        (Tq,): `loWinIdx` and `hiWinIdx`, the same for all sequences. high may be past the last key.
    q_lengths, k_lengths
        (N, B): the number of steps without padding.
    k_steps
        Tk.

    Returns
    -------
    ndarray
        (N, B, Tq, Tk), B of the queries.
    """
    low, high = np.asarray(low), np.asarray(high)
    keys, queries = np.arange(k_steps), np.arange(len(low))
    window = (low[:, None] <= keys) & (keys < high[:, None])
    real_query = queries[:, None] < q_lengths[..., None, None]
    real_key = keys < k_lengths[..., None, None]
    return window & real_query & real_key


def attention_forward(
    q: Array,
    k: Array,
    v: Array,
    weights: Weights | None = None,
    *,
    heads: int = 1,
    scaler: float = 1.0,
    visible: NDArray[np.bool_] | None = None,
    residuals: Array | None = None,
    attention_dropout: Array | None = None,
    output_dropout: Array | None = None,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> AttentionForwardResult:
    """Multi-head attention: `cudnnMultiHeadAttnForward`.

    Parameters
    ----------
    q
        (Tq, N, B, V).
    k, v
        (Tk, N, B, V) or (Tk, N, 1, V). Projected keys are as long as projected queries.
    weights
        Arrays by the names in `WEIGHT_NAMES`, in the shapes of `weight_shapes`; a missing weight
        means no projection or bias.
    scaler
        `smScaler`: 1 / sqrt(P) in transformers; larger makes the attention sharper.
    visible
        The mask from `visible_keys`; default: all keys are visible.
    residuals
        (Tq, N, B, O): added to the result.
    attention_dropout, output_dropout
        Dropout factors, 0 or 1 / (1 - rate): (H, N, B, Tq, Tk) and (Tq, N, B, O).
    compute_dtype
        float32 or float64.
    out_dtype
        Default: the dtype of `q`.

    Returns
    -------
    AttentionForwardResult
        `y` in `out_dtype`, the rest in `compute_dtype`.

    Raises
    ------
    ValueError
        If the shapes do not fit; the message names the argument.
    """
    weights = {} if weights is None else weights
    check_shapes(q, k, v, weights, heads)
    dtype: np.dtype[Any] = np.dtype(compute_dtype)
    weights = {name: array.astype(dtype) for name, array in weights.items()}
    q_, k_, v_ = (
        project(
            x.astype(dtype), weights.get(f"{name}_weights"), weights.get(f"{name}_biases"), heads
        )
        for name, x in (("q", q), ("k", k), ("v", v))
    )
    scores = dtype.type(scaler) * exact_product(by_sequence(q_), by_sequence(k_).swapaxes(-1, -2))
    attention = softmax_where(scores, visible)
    dropped = times(attention, attention_dropout)
    in_heads = by_step(exact_product(dropped, by_sequence(v_)))
    y = join_heads(in_heads, weights.get("o_weights"), weights.get("o_biases"))
    y = times(y, output_dropout)
    if residuals is not None:
        if residuals.shape != y.shape:
            raise ValueError(f"residuals must have shape {y.shape}, got {residuals.shape}")
        y = y + residuals.astype(dtype)
    return AttentionForwardResult(y.astype(out_dtype or q.dtype), q_, k_, v_, attention, in_heads)


def project(x: Array, weights: Array | None, biases: Array | None, heads: int) -> Array:
    """(T, N, B, V) to (H, T, N, B, P): every head's W x + b, or x itself for every head."""
    if weights is None:
        return np.broadcast_to(x, (heads, *x.shape))
    rows = exact_product(x.reshape(-1, x.shape[-1]), weights.swapaxes(1, 2))
    result: Array = rows.reshape(heads, *x.shape[:3], -1)
    return result if biases is None else result + biases[:, None, None, None, :, 0]


def join_heads(h: Array, weights: Array | None, biases: Array | None) -> Array:
    """(H, T, N, B, P) to (T, N, B, O): sum of W h over the heads, + b; or the heads stacked."""
    if weights is None:
        _, *steps, _ = h.shape
        return np.moveaxis(h, 0, -2).reshape(*steps, -1)
    rows = exact_product(h.reshape(len(h), -1, h.shape[-1]), weights.swapaxes(1, 2))
    result: Array = rows.sum(axis=0).reshape(*h.shape[1:4], -1)
    return result if biases is None else result + biases[0, :, 0]


def softmax_where(scores: Array, visible: NDArray[np.bool_] | None) -> Array:
    """Softmax along the last axis over the visible elements; 0 elsewhere."""
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    exponentials: Array = scores - np.where(np.isneginf(largest), 0, largest)
    np.exp(exponentials, out=exponentials)
    total = exponentials.sum(axis=-1, keepdims=True)
    exponentials /= np.where(total == 0, 1, total)
    return exponentials


def exact_product(a: Array, b: Array) -> Array:
    """a @ b, summed in float64: a row of the result does not depend on the number of rows."""
    return product(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)


def by_sequence(x: Array) -> Array:
    """(H, T, N, B, P) to (H, N, B, T, P): one matrix for each sequence, a row for each step.

    Products of these matrices broadcast to keys shared by a beam of queries.
    """
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1, 4))


def by_step(x: Array) -> Array:
    """The way back of `by_sequence`."""
    return x.transpose(0, 3, 1, 2, 4)


def times(x: Array, factors: Array | None) -> Array:
    """x * factors, or x if `factors` is None."""
    return x if factors is None else x * factors.astype(x.dtype)


def check_shapes(q: Array, k: Array, v: Array, weights: Weights, heads: int) -> None:
    """Raise ValueError, naming the argument, if operands and weights do not fit."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.ndim != 4:
            raise ValueError(f"{name} must be (time, batch, beam, vector), got shape {x.shape}")
    if k.shape[1] != q.shape[1] or k.shape[2] not in (1, q.shape[2]):
        raise ValueError(
            f"k must have the batch of q, and its beam or 1: q is {q.shape}, k {k.shape}"
        )
    if v.shape[:3] != k.shape[:3]:
        raise ValueError(f"v must have as many steps and sequences as k: {v.shape}, {k.shape}")
    unknown = set(weights) - set(WEIGHT_NAMES)
    if unknown:
        raise ValueError(f"weights: unknown names {sorted(unknown)}; known: {WEIGHT_NAMES}")
    rows = [weights[name].shape[1] if name in weights else 0 for name in WEIGHT_NAMES[:4]]
    wanted = weight_shapes(heads, (q.shape[3], k.shape[3], v.shape[3]), rows, biases=True)
    for name, array in weights.items():
        if array.shape != wanted.get(name):
            raise ValueError(
                f"weights[{name!r}] must have shape {wanted.get(name)}, got {array.shape}"
            )
    if (rows[0] or q.shape[3]) != (rows[1] or k.shape[3]):
        raise ValueError(
            f"k must be as long as q after projection: {rows[1] or k.shape[3]} and "
            f"{rows[0] or q.shape[3]}"
        )


# --- gradients ------------------------------------------------------------------------------------


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

    dq: Array
    dk: Array
    dv: Array
    dq_projected: Array
    dk_projected: Array
    dv_projected: Array


def attention_backward_data(
    *,
    q: Array,
    k: Array,
    v: Array,
    dy: Array,
    attended: AttentionForwardResult,
    weights: Weights | None = None,
    scaler: float = 1.0,
    attention_dropout: Array | None = None,
    output_dropout: Array | None = None,
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

    def back(projected: Array, name: str, x: Array) -> Array:
        matrices = _get(weights, name, dtype)
        result: Array
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
    q: Array,
    k: Array,
    v: Array,
    dy: Array,
    attended: AttentionForwardResult,
    gradients: AttentionGradients,
    weights: Weights,
    output_dropout: Array | None = None,
) -> dict[str, Array]:
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
    results: dict[str, Array] = {}
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


def softmax_backward(a: Array, da: Array) -> Array:
    """a * (da - sum(a * da)) along the last axis; 0 where a is 0."""
    result: Array = a * (da - (a * da).sum(axis=-1, keepdims=True))
    return result


def _to_heads(do: Array, weights: Array | None, heads: Array) -> Array:
    """(T, N, B, O) to the heads' (H, T, N, B, P): W^T do, or each head's part of do."""
    if weights is None:
        count, *steps, length = heads.shape
        return np.moveaxis(do.reshape(*steps, count, length), -2, 0)
    return project(do, weights.swapaxes(1, 2), None, len(weights))


def _rows(x: Array) -> Array:
    """(..., T, N, B, V) to (..., T * N * B, V)."""
    return x.reshape(*x.shape[:-4], -1, x.shape[-1])


def _get(weights: Weights, name: str, dtype: np.dtype[Any]) -> Array | None:
    return weights[name].astype(dtype) if name in weights else None


def _check_dy(dy: Array, attended: AttentionForwardResult) -> None:
    if dy.shape != attended.y.shape:
        raise ValueError(f"dy must have shape {attended.y.shape}, got {dy.shape}")
