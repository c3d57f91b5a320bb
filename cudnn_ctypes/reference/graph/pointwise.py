"""Element-wise operations: every mode of ``cudnnPointwiseMode_t``, with gradients of activations.

Operands broadcast as in NumPy. With x, b and t for the operands, by their names in cuDNN, the modes
are a table of formulas. The gradients take the forward operation's input, also those of tanh and
sigmoid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...raw.enums import cudnnPointwiseMode_t
from ..arithmetic import kept
from ..tiles import Array
from .erf import erf, normal

Mode = cudnnPointwiseMode_t


@dataclass(frozen=True)
class Parameters:
    """Parameters of some modes, with cuDNN's names and defaults."""

    relu_lower_clip: float = 0.0
    relu_upper_clip: float = math.inf
    relu_lower_clip_slope: float = 0.0
    elu_alpha: float = 1.0
    softplus_beta: float = 1.0
    swish_beta: float = 1.0
    axis: int = -1


def pointwise(
    mode: Mode,
    *operands: Array,
    parameters: Parameters | None = None,
    out: Array | None = None,
) -> Array:
    """y = mode(x, b, t).

    Parameters
    ----------
    operands
        One to three arrays that broadcast. For BINARY_SELECT the third is the condition.
    out
        An array for y, which rounds to its dtype. It may be one of the operands.

    Returns
    -------
    ndarray
        bool for comparisons and logical modes, int64 for GEN_INDEX. MAX and MIN of NaN and a number
        are the number, of 0 and -0 either (on a GPU 0 and -0); RELU_FWD of NaN is NaN (every
        engine of an H200, 9.19).
    """
    if mode not in _OF_BOOLEANS:  # False and True are 0 and 1
        operands = tuple(x.astype(np.float64) if x.dtype == bool else x for x in operands)
    with np.errstate(all="ignore"):  # infinity and NaN are results like others
        if mode in _PARAMETRIC:
            y = _PARAMETRIC[mode](operands[0], parameters or Parameters(), out)
        elif out is not None and isinstance(formula := _PLAIN[mode], np.ufunc):
            return np.asarray(formula(*operands, out=out, casting="unsafe"))
        else:
            y = _PLAIN[mode](*operands)
        if out is None:
            return np.asarray(y)
        if y is not out:
            out[...] = y
        return out


def pointwise_backward(
    mode: Mode, dy: Array, x: Array, *, parameters: Parameters | None = None
) -> Array:
    """dx = dy * (derivative of the activation at x).

    Where relu is flat dx is 0, also of infinite dy; where x is NaN it is dy.
    """
    with np.errstate(all="ignore"):
        slope = _DERIVATIVES[mode](x, parameters or Parameters())
        dx: Array = dy * slope
        return np.where(slope == 0, 0.0, dx) if mode == Mode.CUDNN_POINTWISE_RELU_BWD else dx


def keeps_float32(mode: Mode, parameters: Parameters) -> bool:
    """Whether a mode may be computed in float32.

    The result is that of float64 rounded to float32; of exponentials, the error function and what
    is computed with them, with a relative error below 1e-6 (numbers below 1e-36 may become 0).
    """
    bent = mode == Mode.CUDNN_POINTWISE_RELU_FWD and parameters.relu_lower_clip_slope != 0
    return mode in _IN_FLOAT32 and not bent


# --- formulas ------------------------------------------------------------------------------------


def _sigmoid(x: Array) -> Any:
    y = np.negative(x)
    np.exp(y, out=y)
    y += 1
    return np.divide(1, y, out=y)


def _swish(x: Array, p: Parameters, out: Array | None) -> Any:
    y = x * -p.swish_beta
    np.exp(y, out=y)
    y += 1
    return np.divide(x, y, out=y if out is None else out, casting="unsafe")


_TANH_SLOPE, _TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


def _gelu_by_tanh(x: Array) -> Any:
    return 0.5 * x * (1 + np.tanh(_TANH_SLOPE * (x + _TANH_CUBE * x**3)))


def _gelu_by_tanh_slope(x: Array, _: Parameters) -> Any:
    t = np.tanh(_TANH_SLOPE * (x + _TANH_CUBE * x**3))
    inner = _TANH_SLOPE * (1 + 3 * _TANH_CUBE * x**2)
    return 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * inner


def _relu(x: Array, p: Parameters, out: Array | None) -> Any:
    below: Any = p.relu_lower_clip
    if p.relu_lower_clip_slope != 0:
        below = below + p.relu_lower_clip_slope * (x - below)
    low = x < p.relu_lower_clip  # NaN of NaN, -0 of -0
    y = kept(x, ~low, out) if np.all(below == 0) else np.where(low, below, x)
    return y if p.relu_upper_clip == math.inf else np.minimum(y, p.relu_upper_clip)


def _relu_slope(x: Array, p: Parameters) -> Any:
    slope = np.where(x <= p.relu_lower_clip, p.relu_lower_clip_slope, 1.0)
    return slope if p.relu_upper_clip == math.inf else np.where(x >= p.relu_upper_clip, 0.0, slope)


def _index(x: Array, p: Parameters, _: Array | None) -> Any:
    along = [1] * x.ndim
    along[p.axis] = -1
    return np.broadcast_to(np.arange(x.shape[p.axis]).reshape(along), x.shape)


def _power(x: Array, b: Array) -> Any:
    """C's pow. Where b is 0.5 throughout NumPy takes the square root: NaN of -inf, -0 of -0."""
    is_root = (b == 0.5) & (np.isinf(x) | (x == 0))
    return np.power(np.where(is_root, np.abs(x), x), b)


def _softplus(x: Array, p: Parameters, _: Array | None) -> Any:
    return np.logaddexp(0, p.softplus_beta * x) / p.softplus_beta


def _swish_slope(x: Array, p: Parameters) -> Any:
    s = _sigmoid(p.swish_beta * x)
    return s + p.swish_beta * x * s * (1 - s)


_OF_BOOLEANS = (
    Mode.CUDNN_POINTWISE_IDENTITY,
    Mode.CUDNN_POINTWISE_LOGICAL_AND,
    Mode.CUDNN_POINTWISE_LOGICAL_OR,
    Mode.CUDNN_POINTWISE_LOGICAL_NOT,
    Mode.CUDNN_POINTWISE_BINARY_SELECT,
)

_IN_FLOAT32 = frozenset(
    {
        Mode.CUDNN_POINTWISE_ADD,
        Mode.CUDNN_POINTWISE_SUB,
        Mode.CUDNN_POINTWISE_MUL,
        Mode.CUDNN_POINTWISE_DIV,
        Mode.CUDNN_POINTWISE_SQRT,
        Mode.CUDNN_POINTWISE_RECIPROCAL,
        Mode.CUDNN_POINTWISE_MAX,
        Mode.CUDNN_POINTWISE_MIN,
        Mode.CUDNN_POINTWISE_ABS,
        Mode.CUDNN_POINTWISE_NEG,
        Mode.CUDNN_POINTWISE_CEIL,
        Mode.CUDNN_POINTWISE_FLOOR,
        Mode.CUDNN_POINTWISE_IDENTITY,
        Mode.CUDNN_POINTWISE_BINARY_SELECT,
        Mode.CUDNN_POINTWISE_CMP_EQ,
        Mode.CUDNN_POINTWISE_CMP_NEQ,
        Mode.CUDNN_POINTWISE_CMP_GT,
        Mode.CUDNN_POINTWISE_CMP_GE,
        Mode.CUDNN_POINTWISE_CMP_LT,
        Mode.CUDNN_POINTWISE_CMP_LE,
        Mode.CUDNN_POINTWISE_RELU_FWD,
        Mode.CUDNN_POINTWISE_EXP,
        Mode.CUDNN_POINTWISE_TANH_FWD,
        Mode.CUDNN_POINTWISE_SIGMOID_FWD,
        Mode.CUDNN_POINTWISE_SWISH_FWD,
        Mode.CUDNN_POINTWISE_ERF,
        Mode.CUDNN_POINTWISE_GELU_FWD,
        Mode.CUDNN_POINTWISE_GELU_BWD,
    }
)

_PLAIN: dict[Mode, Callable[..., Any]] = {
    Mode.CUDNN_POINTWISE_ADD: np.add,
    Mode.CUDNN_POINTWISE_ADD_SQUARE: lambda x, b: x + b * b,
    Mode.CUDNN_POINTWISE_DIV: np.divide,
    Mode.CUDNN_POINTWISE_MAX: np.fmax,
    Mode.CUDNN_POINTWISE_MIN: np.fmin,
    Mode.CUDNN_POINTWISE_MOD: np.fmod,  # the sign of x
    Mode.CUDNN_POINTWISE_FLOOR_MOD: np.mod,  # the sign of b
    Mode.CUDNN_POINTWISE_MUL: np.multiply,
    Mode.CUDNN_POINTWISE_POW: _power,
    Mode.CUDNN_POINTWISE_SUB: np.subtract,
    Mode.CUDNN_POINTWISE_ATAN2: np.arctan2,
    Mode.CUDNN_POINTWISE_ABS: np.abs,
    Mode.CUDNN_POINTWISE_CEIL: np.ceil,
    Mode.CUDNN_POINTWISE_COS: np.cos,
    Mode.CUDNN_POINTWISE_EXP: np.exp,
    Mode.CUDNN_POINTWISE_FLOOR: np.floor,
    Mode.CUDNN_POINTWISE_LOG: np.log,
    Mode.CUDNN_POINTWISE_NEG: np.negative,
    Mode.CUDNN_POINTWISE_RSQRT: lambda x: 1 / np.sqrt(x),
    Mode.CUDNN_POINTWISE_SIN: np.sin,
    Mode.CUDNN_POINTWISE_SQRT: np.sqrt,
    Mode.CUDNN_POINTWISE_TAN: np.tan,
    Mode.CUDNN_POINTWISE_ERF: erf,
    Mode.CUDNN_POINTWISE_IDENTITY: np.array,
    Mode.CUDNN_POINTWISE_RECIPROCAL: lambda x: 1 / x,
    Mode.CUDNN_POINTWISE_TANH_FWD: np.tanh,
    Mode.CUDNN_POINTWISE_SIGMOID_FWD: _sigmoid,
    Mode.CUDNN_POINTWISE_GELU_FWD: lambda x: x * normal(x),
    Mode.CUDNN_POINTWISE_GELU_APPROX_TANH_FWD: _gelu_by_tanh,
    Mode.CUDNN_POINTWISE_CMP_EQ: np.equal,
    Mode.CUDNN_POINTWISE_CMP_NEQ: np.not_equal,
    Mode.CUDNN_POINTWISE_CMP_GT: np.greater,
    Mode.CUDNN_POINTWISE_CMP_GE: np.greater_equal,
    Mode.CUDNN_POINTWISE_CMP_LT: np.less,
    Mode.CUDNN_POINTWISE_CMP_LE: np.less_equal,
    Mode.CUDNN_POINTWISE_LOGICAL_AND: np.logical_and,
    Mode.CUDNN_POINTWISE_LOGICAL_OR: np.logical_or,
    Mode.CUDNN_POINTWISE_LOGICAL_NOT: np.logical_not,
    Mode.CUDNN_POINTWISE_BINARY_SELECT: lambda x, b, t: np.where(t.astype(bool), x, b),
}

_PARAMETRIC: dict[Mode, Callable[[Array, Parameters, Array | None], Any]] = {
    Mode.CUDNN_POINTWISE_RELU_FWD: _relu,
    Mode.CUDNN_POINTWISE_ELU_FWD: lambda x, p, _: np.where(x > 0, x, p.elu_alpha * np.expm1(x)),
    Mode.CUDNN_POINTWISE_SOFTPLUS_FWD: _softplus,
    Mode.CUDNN_POINTWISE_SWISH_FWD: _swish,
    Mode.CUDNN_POINTWISE_GEN_INDEX: _index,
}

_DERIVATIVES: dict[Mode, Callable[[Array, Parameters], Any]] = {
    Mode.CUDNN_POINTWISE_RELU_BWD: _relu_slope,
    Mode.CUDNN_POINTWISE_TANH_BWD: lambda x, p: 1 - np.tanh(x) ** 2,
    Mode.CUDNN_POINTWISE_SIGMOID_BWD: lambda x, p: _sigmoid(x) * (1 - _sigmoid(x)),
    Mode.CUDNN_POINTWISE_ELU_BWD: lambda x, p: np.where(x > 0, 1.0, p.elu_alpha * np.exp(x)),
    Mode.CUDNN_POINTWISE_GELU_BWD: lambda x, p: (
        normal(x) + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    ),
    Mode.CUDNN_POINTWISE_SOFTPLUS_BWD: lambda x, p: _sigmoid(p.softplus_beta * x),
    Mode.CUDNN_POINTWISE_SWISH_BWD: _swish_slope,
    Mode.CUDNN_POINTWISE_GELU_APPROX_TANH_BWD: _gelu_by_tanh_slope,
}
