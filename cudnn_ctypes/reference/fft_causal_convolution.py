"""Causal depthwise convolution by Fourier transforms, for filters as long as the sequence.

A product of spectra is a circular convolution: what leaves at one end comes back at the other.
Zeros appended to both sequences, as many as they are long, leave nothing to come back; the first
half of the result is then the causal convolution.

Here the filter's first tap meets the present: w[j] multiplies x[t - j], the reverse of
`causal_convolution_forward`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arithmetic import round_to


class FFTCausalConvolutionGradients(NamedTuple):
    """Gradients of x (batch, dim, time) and w (dim, K)."""

    dx: NDArray[Any]
    dw: NDArray[Any]


def fft_causal_convolution_forward(
    x: NDArray[Any], w: NDArray[Any], *, out_dtype: DTypeLike | None = None
) -> NDArray[Any]:
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
    *,
    x: NDArray[Any],
    w: NDArray[Any],
    dy: NDArray[Any],
    out_dtype: DTypeLike | None = None,
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


def spectrum(sequence: NDArray[Any], time: int) -> NDArray[Any]:
    """The transform of a sequence (..., time or less), zeros appended up to 2 * time."""
    transformed: NDArray[Any] = np.fft.rfft(sequence.astype(np.float64), 2 * time)
    return transformed


def spectrum_product(x: NDArray[Any], w: NDArray[Any], time: int) -> NDArray[Any]:
    """The causal convolution (batch, dim, time) of two sequences, given their spectra."""
    y: NDArray[Any] = np.fft.irfft(x * w, 2 * time)
    return y[..., :time]


def spectrum_gradients(
    x: NDArray[Any], w: NDArray[Any], dy: NDArray[Any], time: int, width: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """dx (batch, dim, time) and dw (dim, width), given the spectra of x, w and dy."""
    dx = np.fft.irfft(dy * w.conj(), 2 * time)[..., :time]
    dw = np.fft.irfft((dy * x.conj()).sum(axis=0), 2 * time)[..., :width]
    return dx, dw


def _checked_time(x: NDArray[Any], w: NDArray[Any]) -> int:
    if x.ndim != 3 or w.ndim != 2 or w.shape[0] != x.shape[1]:
        raise ValueError(
            f"expected x (batch, dim, time) and w (dim, K), got {x.shape} and {w.shape}"
        )
    if w.shape[1] > x.shape[2]:
        raise ValueError(f"a filter of {w.shape[1]} taps is longer than {x.shape[2]} steps")
    return int(x.shape[2])
