"""Causal depthwise convolution by Fourier transforms, for filters as long as the sequence.

A product of spectra is a circular convolution: what leaves at one end comes back at the other.
Zeros appended to both sequences, as many as they are long, leave nothing to come back; the first
half of the result is then the causal convolution.

Here the filter's first tap meets the present: weight[j] multiplies x[t - j], the reverse of
`causal_convolution_forward`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arithmetic import round_to

__all__ = [
    "FFTGradients",
    "fft_causal_convolution_backward",
    "fft_causal_convolution_forward",
    "spectrum",
    "spectrum_gradients",
    "spectrum_product",
]


class FFTGradients(NamedTuple):
    """Gradients of x (batch, dim, time) and weight (dim, K)."""

    dx: NDArray[Any]
    dweight: NDArray[Any]


def fft_causal_convolution_forward(
    x: NDArray[Any], weight: NDArray[Any], *, out_dtype: DTypeLike | None = None
) -> NDArray[Any]:
    """y[t] = sum over j of x[t - j] * weight[j]: `cudnnFFTCausalConv1dForward`, `…LongFFT…`.

    Transforms are computed in float64, whose rounding is about 1e-16 of the largest result.

    Parameters
    ----------
    x
        (batch, dim, time).
    weight
        (dim, K), K at most the time.
    out_dtype
        Left out: the dtype of x.
    """
    time = _checked_time(x, weight)
    y = spectrum_product(spectrum(x, time), spectrum(weight, time), time)
    return round_to(y, out_dtype or x.dtype)


def fft_causal_convolution_backward(
    x: NDArray[Any],
    weight: NDArray[Any],
    dy: NDArray[Any],
    *,
    out_dtype: DTypeLike | None = None,
) -> FFTGradients:
    """The gradients by x and weight: `cudnnFFTCausalConv1dBackward`, `…LongFFT…`.

    A conjugated factor turns time around, a convolution into a correlation:

    - dx[t] = sum over j of dy[t + j] * weight[j];
    - dweight[j] = sum over batch and t of dy[t] * x[t - j].

    Parameters
    ----------
    dy
        Gradient of y, (batch, dim, time).

    The other parameters are those of `fft_causal_convolution_forward`.
    """
    time = _checked_time(x, weight)
    dx, dweight = spectrum_gradients(
        spectrum(x, time), spectrum(weight, time), spectrum(dy, time), time, weight.shape[1]
    )
    stored = out_dtype or x.dtype
    return FFTGradients(round_to(dx, stored), round_to(dweight, stored))


def spectrum(sequence: NDArray[Any], time: int) -> NDArray[Any]:
    """The transform of a sequence (..., time or less), zeros appended up to 2 * time."""
    transformed: NDArray[Any] = np.fft.rfft(sequence.astype(np.float64), 2 * time)
    return transformed


def spectrum_product(x: NDArray[Any], weight: NDArray[Any], time: int) -> NDArray[Any]:
    """The causal convolution (batch, dim, time) of two sequences, given their spectra."""
    y: NDArray[Any] = np.fft.irfft(x * weight, 2 * time)
    return y[..., :time]


def spectrum_gradients(
    x: NDArray[Any], weight: NDArray[Any], dy: NDArray[Any], time: int, width: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """dx (batch, dim, time) and dweight (dim, width), given the spectra of x, weight and dy."""
    dx = np.fft.irfft(dy * weight.conj(), 2 * time)[..., :time]
    dweight = np.fft.irfft((dy * x.conj()).sum(axis=0), 2 * time)[..., :width]
    return dx, dweight


def _checked_time(x: NDArray[Any], weight: NDArray[Any]) -> int:
    if x.ndim != 3 or weight.ndim != 2 or weight.shape[0] != x.shape[1]:
        raise ValueError(
            f"expected x (batch, dim, time) and weight (dim, K), got {x.shape} and {weight.shape}"
        )
    if weight.shape[1] > x.shape[2]:
        raise ValueError(f"a filter of {weight.shape[1]} taps is longer than {x.shape[2]} steps")
    return int(x.shape[2])
