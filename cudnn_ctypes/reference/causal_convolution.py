"""Causal depthwise convolution of sequences, its gradients, and the back-to-back form.

Causal: y[t] depends on x[t] and earlier elements, never on later ones. Depthwise: every channel has
its own filter.

Fourier transforms serve filters as long as the sequence. A product of spectra is a circular
convolution: what leaves at one end comes back at the other. Zeros appended to both sequences, as
many as they are long, leave nothing to come back; the first half of the result is then the causal
convolution. There the filter's first tap meets the present: w[j] multiplies x[t - j], the reverse
of `causal_convolution_forward`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from .activation import activate, derivative
from .arithmetic import round_to
from .tiles import Array

Act = Literal["identity", "silu"]


class CausalConvolutionGradients(NamedTuple):
    """Gradients of x (batch, dim, time), w (dim, width) and bias (dim,)."""

    dx: Array
    dw: Array
    db: Array


class BackToBackResult(NamedTuple):
    """y (batch, dim, time), the mixer's output before its gate, and `gated`, after it."""

    y: Array
    gated: Array


class BackToBackGradients(NamedTuple):
    """Gradients of x (batch, dim, 3, time), of both filters and of the skip factors (dim,)."""

    dx: Array
    dw_proj: Array
    dw_mixer: Array
    dskip_bias: Array


# --- one filter -----------------------------------------------------------------------------------


def causal_convolution_forward(
    x: Array,
    w: Array,
    bias: Array | None = None,
    activation: Act = "identity",
    *,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> Array:
    """y[t] = act(bias + sum over j of x[t - j] * w[K - 1 - j]): `cudnnCausalConv1dForward`.

    The filter's last tap meets the present, as in PyTorch's ``conv1d`` with K - 1 zeros on the
    left. `cudnnCausalConv1dNwhForward` computes the same, with channels last.

    Parameters
    ----------
    x
        (batch, dim, time).
    w
        (dim, K).
    bias
        (dim,).
    activation
        "identity", or "silu": z * sigmoid(z).
    compute_dtype
        float32 or float64.
    out_dtype
        Default: the dtype of x.

    Returns
    -------
    ndarray
        (batch, dim, time).
    """
    before = _before_activation(x, w, bias, np.dtype(compute_dtype))
    return round_to(_activated(before, activation), out_dtype or x.dtype)


def causal_convolution_backward(
    *,
    x: Array,
    w: Array,
    dy: Array,
    bias: Array | None = None,
    activation: Act = "identity",
    dw: Array | None = None,
    db: Array | None = None,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
    dw_dtype: DTypeLike | None = None,
) -> CausalConvolutionGradients:
    """The gradients by x, w and bias: `cudnnCausalConv1dBackward`.

    With z the sum before the activation and dz = dy * act'(z):

    - dx[t] = sum over j of dz[t + j] * w[K - 1 - j];
    - dw[K - 1 - j] += sum over batch and t of dz[t] * x[t - j];
    - db += sum over batch and t of dz[t].

    `cudnnCausalConv1dNwhBackward` computes the same, with channels last.

    Parameters
    ----------
    dy
        Gradient of y, (batch, dim, time).
    dw, db
        Arrays to which the gradients are added; default: zeros.
    out_dtype, dw_dtype
        The dtypes of dx, and of dw and db; default: the dtype of x.

    The other parameters are those of `causal_convolution_forward`.
    """
    compute = np.dtype(compute_dtype)
    before = _before_activation(x, w, bias, compute)
    dz = dy.astype(compute) * _slope(before, activation)
    dx, dtaps = _gradients(x.astype(compute), w.astype(compute)[:, ::-1], dz)
    of_w, of_bias = dtaps[:, ::-1], dz.sum(axis=(0, 2))
    stored = dw_dtype or x.dtype
    return CausalConvolutionGradients(
        round_to(dx, out_dtype or x.dtype), _added(of_w, dw, stored), _added(of_bias, db, stored)
    )


# --- two filters, back to back --------------------------------------------------------------------


def back_to_back_convolution_forward(
    x: Array,
    w_proj: Array,
    w_mixer: Array,
    skip_bias: Array,
    *,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> BackToBackResult:
    """Projection, gate, mixer, gate: `cudnnB2BCausalConv1dForward`, a Hyena block.

    Each of the three channels x0, x1, x2 of a dimension has a projection filter. With p0, p1, p2
    the results of these causal convolutions:

    - z = p1 * p2;
    - y = causal convolution of z with the mixer's filter + skip_bias * z;
    - gated = y * p0.

    Parameters
    ----------
    x
        (batch, dim, 3, time).
    w_proj
        (dim, 3, K).
    w_mixer
        (dim, L).
    skip_bias
        (dim,).
    """
    compute = np.dtype(compute_dtype)
    p, z = _projected(x.astype(compute), w_proj.astype(compute))
    y = _convolved(z, w_mixer.astype(compute)[:, ::-1])
    y = y + skip_bias.astype(compute)[:, None] * z
    stored = out_dtype or x.dtype
    return BackToBackResult(round_to(y, stored), round_to(y * p[:, :, 0], stored))


def back_to_back_convolution_backward(
    *,
    x: Array,
    w_proj: Array,
    w_mixer: Array,
    skip_bias: Array,
    y: Array,
    dgated: Array,
    dw_proj: Array | None = None,
    dw_mixer: Array | None = None,
    dskip_bias: Array | None = None,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
    dw_dtype: DTypeLike | None = None,
) -> BackToBackGradients:
    """The gradients by all operands: `cudnnB2BCausalConv1dBackward`.

    Parameters
    ----------
    y
        The y from `back_to_back_convolution_forward`.
    dgated
        Gradient of `gated`, (batch, dim, time).
    dw_proj, dw_mixer, dskip_bias
        Arrays to which the gradients are added; default: zeros.

    The other parameters are those of `back_to_back_convolution_forward` and
    `causal_convolution_backward`.
    """
    compute = np.dtype(compute_dtype)
    wide, filters = x.astype(compute), w_proj.astype(compute)
    p, z = _projected(wide, filters)
    dgated = dgated.astype(compute)
    dmixed = dgated * p[:, :, 0]
    dz, dtaps = _gradients(z, w_mixer.astype(compute)[:, ::-1], dmixed)
    dz = dz + skip_bias.astype(compute)[:, None] * dmixed
    dp = np.stack([dgated * y.astype(compute), dz * p[:, :, 2], dz * p[:, :, 1]], axis=2)
    batch, dim, _, time = x.shape
    dx, dtaps_proj = _gradients(
        wide.reshape(batch, 3 * dim, time),
        filters.reshape(3 * dim, -1)[:, ::-1],
        dp.reshape(batch, 3 * dim, time),
    )
    of_proj = dtaps_proj[:, ::-1].reshape(filters.shape)
    stored = dw_dtype or x.dtype
    return BackToBackGradients(
        round_to(dx.reshape(x.shape), out_dtype or x.dtype),
        _added(of_proj, dw_proj, stored),
        _added(dtaps[:, ::-1], dw_mixer, stored),
        _added((dmixed * z).sum(axis=(0, 2)), dskip_bias, stored),
    )


# --- the sums ---------------------------------------------------------------------------------


def _convolved(x: Array, taps: Array) -> Array:
    """y[t] = sum over j of x[t - j] * taps[j]; x (batch, dim, time), taps (dim, K)."""
    y = np.zeros_like(x)
    for j in range(min(taps.shape[1], x.shape[2])):
        y[:, :, j:] += x[:, :, : x.shape[2] - j] * taps[:, j, None]
    return y


def _gradients(x: Array, taps: Array, dy: Array) -> tuple[Array, Array]:
    """The gradients of `_convolved` by x and by taps."""
    dx, dtaps = np.zeros_like(x), np.zeros_like(taps)
    time = x.shape[2]
    for j in range(min(taps.shape[1], time)):
        dx[:, :, : time - j] += dy[:, :, j:] * taps[:, j, None]
        dtaps[:, j] = (dy[:, :, j:] * x[:, :, : time - j]).sum(axis=(0, 2))
    return dx, dtaps


def _projected(x: Array, filters: Array) -> tuple[Array, Array]:
    """The three projections (batch, dim, 3, time), and the product of the last two."""
    batch, dim, _, time = x.shape
    taps = filters.reshape(3 * dim, -1)[:, ::-1]
    p = _convolved(x.reshape(batch, 3 * dim, time), taps).reshape(x.shape)
    return p, p[:, :, 1] * p[:, :, 2]


def _before_activation(x: Array, w: Array, bias: Array | None, compute: np.dtype[Any]) -> Array:
    _check(x, w, bias)
    z = _convolved(x.astype(compute), w.astype(compute)[:, ::-1])
    return z if bias is None else z + bias.astype(compute)[:, None]


def _check(x: Array, w: Array, bias: Array | None) -> None:
    if x.ndim != 3 or w.ndim != 2 or w.shape[0] != x.shape[1]:
        raise ValueError(
            f"expected x (batch, dim, time) and w (dim, K), got {x.shape} and {w.shape}"
        )
    if bias is not None and bias.shape != x.shape[1:2]:
        raise ValueError(f"bias must have shape {x.shape[1:2]}, got {bias.shape}")


def _activated(z: Array, activation: Act) -> Array:
    match activation:
        case "identity":
            return z
        case "silu":
            return activate(z, "swish", 1.0)
    raise ValueError(f"activation must be 'identity' or 'silu', got {activation!r}")


def _slope(z: Array, activation: Act) -> Array:
    y = _activated(z, activation)
    return derivative(y, z, "identity" if activation == "identity" else "swish", 1.0)


def _added(gradient: Array, prior: Array | None, dtype: DTypeLike) -> Array:
    if prior is not None:
        gradient = gradient + prior.astype(gradient.dtype)
    return round_to(gradient, dtype)


# --- by Fourier transforms ------------------------------------------------------------------------


class FFTCausalConvolutionGradients(NamedTuple):
    """Gradients of x (batch, dim, time) and w (dim, K)."""

    dx: Array
    dw: Array


def fft_causal_convolution_forward(
    x: Array, w: Array, *, out_dtype: DTypeLike | None = None
) -> Array:
    """y[t] = sum over j of x[t - j] * w[j]: `cudnnFFTCausalConv1dForward`.

    `cudnnLongFFTCausalConv1dForward` computes the same. Transforms are computed in float64, whose
    rounding is about 1e-16 of the largest result.

    Parameters
    ----------
    x
        (batch, dim, time).
    w
        (dim, K), K at most the time.
    out_dtype
        Default: the dtype of x.
    """
    time = _checked_time(x, w)
    y = spectrum_product(spectrum(x, time), spectrum(w, time), time)
    return round_to(y, out_dtype or x.dtype)


def fft_causal_convolution_backward(
    *, x: Array, w: Array, dy: Array, out_dtype: DTypeLike | None = None
) -> FFTCausalConvolutionGradients:
    """The gradients by x and w: `cudnnFFTCausalConv1dBackward`.

    `cudnnLongFFTCausalConv1dBackward` computes the same.

    A conjugated factor turns time around, a convolution into a correlation:

    - dx[t] = sum over j of dy[t + j] * w[j];
    - dw[j] = sum over batch and t of dy[t] * x[t - j].

    Parameters
    ----------
    dy
        Gradient of y, (batch, dim, time).

    The other parameters are those of `fft_causal_convolution_forward`.
    """
    time = _checked_time(x, w)
    dx, dw = spectrum_gradients(
        spectrum(x, time), spectrum(w, time), spectrum(dy, time), time, w.shape[1]
    )
    stored = out_dtype or x.dtype
    return FFTCausalConvolutionGradients(round_to(dx, stored), round_to(dw, stored))


def spectrum(sequence: Array, time: int) -> Array:
    """The transform of a sequence (..., time or less), zeros appended up to 2 * time."""
    transformed: Array = np.fft.rfft(sequence.astype(np.float64), 2 * time)
    return transformed


def spectrum_product(x: Array, w: Array, time: int) -> Array:
    """The causal convolution (batch, dim, time) of two sequences, given their spectra."""
    y: Array = np.fft.irfft(x * w, 2 * time)
    return y[..., :time]


def spectrum_gradients(x: Array, w: Array, dy: Array, time: int, width: int) -> tuple[Array, Array]:
    """dx (batch, dim, time) and dw (dim, width), given the spectra of x, w and dy."""
    dx = np.fft.irfft(dy * w.conj(), 2 * time)[..., :time]
    dw = np.fft.irfft((dy * x.conj()).sum(axis=0), 2 * time)[..., :width]
    return dx, dw


def _checked_time(x: Array, w: Array) -> int:
    if x.ndim != 3 or w.ndim != 2 or w.shape[0] != x.shape[1]:
        raise ValueError(
            f"expected x (batch, dim, time) and w (dim, K), got {x.shape} and {w.shape}"
        )
    if w.shape[1] > x.shape[2]:
        raise ValueError(f"a filter of {w.shape[1]} taps is longer than {x.shape[2]} steps")
    return int(x.shape[2])
