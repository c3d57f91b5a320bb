"""Functions of images on the reference device: activation, softmax, pooling, LRN, sampling.

The gradient of an activation reads either x or y, and the other one may be NULL. Local response
normalization, across channels and divisive, ignores modes, and its gradient does not read y.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ...errors import FaultWarning
from ...raw.descriptors import LRN, Activation, Pooling, SpatialTransformer, Tensor
from ...raw.host_blocks import warn
from ...raw.operand_rules.images import OF_X
from ...raw.strides import is_packed
from ..activation import activation_backward, activation_forward
from ..lrn import (
    divisive_normalization_backward,
    divisive_normalization_forward,
    lrn_cross_channel_backward,
    lrn_cross_channel_forward,
)
from ..pooling import pooling_backward, pooling_forward
from ..softmax import softmax_backward, softmax_forward
from ..spatial_transformer import (
    spatial_tf_grid_generator_backward,
    spatial_tf_grid_generator_forward,
    spatial_tf_sampler_backward,
    spatial_tf_sampler_forward,
)
from ..tiles import Array
from .call import Call, word
from .memory import Operand, Use
from .registry import implements, not_supported

# -- activation and softmax ----------------------------------------------------------------------


def _activation(call: Call) -> dict[str, Any]:
    """The function and its coefficient."""
    record = call.record("activationDesc", Activation)
    mode = word(record.mode, "CUDNN_ACTIVATION_")
    return {"activation": mode, "coef": record.swish_beta if mode == "swish" else record.coef}


@implements("cudnnActivationForward")
def activation(call: Call) -> None:
    nan = call.record("activationDesc", Activation).nan_propagation
    keeps = {"propagate_nan": nan == raw.CUDNN_PROPAGATE_NAN}
    call.compute(activation_forward, "x", "y", lambda call: _activation(call) | keeps)


@implements("cudnnActivationBackward")
def activation_gradient(call: Call) -> None:
    reads_x = call.record("activationDesc", Activation).mode in OF_X
    read, other = ("x", "y") if reads_x else ("y", "x")

    def options(call: Call) -> dict[str, Any]:
        return {**_activation(call), other: call.operand(read).load()}

    call.compute(activation_backward, f"{read} dy", "dx", options)


@implements("cudnnSoftmaxForward", "cudnnSoftmaxBackward")
def softmax(call: Call) -> None:
    forward = call.name == "cudnnSoftmaxForward"
    formula = softmax_forward if forward else softmax_backward
    operands, result = ("x", "y") if forward else ("y dy", "dx")
    call.require(*operands.split(), result)
    options: dict[str, Any] = {
        "algorithm": call.word("algo", "CUDNN_SOFTMAX_"),
        "mode": call.word("mode", "CUDNN_SOFTMAX_MODE_"),
    }
    if forward and options["mode"] == "channel":
        x = call.record("xDesc", Tensor)
        # For channels that are innermost cuDNN has another kernel (9.14, 9.19). What is in both
        # layouts goes there in place, or with 5 dimensions.
        both = is_packed(x) and len(x.shape) != 5 and call["x"] != call["y"]
        options["keep_powers"] = both or not is_packed(x, "nhwc")
    call.compute(formula, operands, result, lambda call: options)


# -- pooling ---------------------------------------------------------------------------------------


def _pooling(pooling: Pooling) -> dict[str, Any]:
    return {
        "window": pooling.window,
        "mode": word(pooling.mode, "CUDNN_POOLING_"),
        "padding": pooling.padding,
        "stride": pooling.stride,
        "propagate_nan": pooling.nan_propagation == raw.CUDNN_PROPAGATE_NAN,
    }


@implements("cudnnPoolingForward")
def pooling(call: Call) -> None:
    pooling = call.record("poolingDesc", Pooling)

    def options(call: Call) -> dict[str, Any]:
        x, y = call.operands("x", "y")
        y.keep_apart(x)
        _warn_of_windows_outside(pooling, x, y)
        return {**_pooling(pooling), "y_shape": y.shape}

    call.compute(pooling_forward, "x", "y", options)


@implements("cudnnPoolingBackward")
def pooling_gradient(call: Call) -> None:
    pooling = call.record("poolingDesc", Pooling)
    averages = pooling.mode not in (raw.CUDNN_POOLING_MAX, raw.CUDNN_POOLING_MAX_DETERMINISTIC)
    if averages:  # nothing of x and y is needed, and their descriptors may say anything
        dy, dx = call.operands("dy", "dx")
        y, x = dy, dx
    else:
        y, dy, x, dx = call.operands("y", "dy", "x", "dx")
    call.check()
    dx.keep_apart(*((dy,) if averages else (x, dy)))
    options = _pooling(pooling)
    if options["mode"] == "max" and not (
        len(x.shape) == 4 and all(is_packed(each) for each in (x, y))
    ):
        options["mode"] = "max_deterministic"
    factors = call.factors()
    y.check()
    memory = dx.prior(factors["beta"])
    result = pooling_backward(
        dy=dy.load(),
        x=np.broadcast_to(np.zeros((), x.dtype), x.shape) if averages else x.load(),
        **options,
        dx=memory,
        out=memory,
        compute_dtype=x.compute_dtype,
        **factors,
    )
    dx.store(result)


def _warn_of_windows_outside(pooling: Pooling, x: Operand, y: Operand) -> None:
    """Warn of elements of y that no element of x decides."""
    axes = zip(
        x.shape[2:], pooling.window, pooling.padding, pooling.stride, y.shape[2:], strict=True
    )
    for axis, (size, window, padding, stride, number) in enumerate(axes):
        own = (size + 2 * padding - window) // stride + 1
        if padding >= window or (min(own, number) - 1) * stride - padding >= size:
            argument, what = "poolingDesc", f"a padding of {padding} beside a window of {window}"
        elif (number - 1) * stride - padding >= size:
            argument, what = "yDesc", f"{number} elements of y where x has {size}"
        else:
            continue
        warn(
            f"cudnnPoolingForward: {argument}: {what} along spatial dimension {axis} makes windows "
            f"outside the image; a maximum is the lowest number there, an average 0 or NaN",
            FaultWarning,
        )


# -- local response and divisive normalization -----------------------------------------------------


def _lrn(call: Call) -> dict[str, Any]:
    """The values of the LRN descriptor, as keyword arguments of the reference functions."""
    lrn = call.record("normDesc", LRN)
    return {"n": lrn.n, "lrn_alpha": lrn.alpha, "lrn_beta": lrn.beta, "k": lrn.k}


@implements("cudnnLRNCrossChannelForward")
def lrn(call: Call) -> None:
    call.compute(lrn_cross_channel_forward, "x", "y", _lrn, exact=True)


@implements("cudnnLRNCrossChannelBackward")
def lrn_gradient(call: Call) -> None:
    def options(call: Call) -> dict[str, Any]:
        if call["yDesc"] and (y := call.operand("y", nullable=True)).address is not None:
            y.check()
        return {**_lrn(call), "y": call.operand("x").load()}

    call.compute(lrn_cross_channel_backward, "x dy", "dx", options, exact=True)


@implements("cudnnDivisiveNormalizationForward")
def divisive_forward(call: Call) -> None:
    """A beta below 0 counts as 0, as in cuDNN (9.14 and 9.19); not so in the backward pass."""
    x, y = call.operands("x", "y")
    call.check()
    temporaries, options = call.operands("temp", "temp2"), _lrn(call)
    factors = call.factors()
    factors["beta"] = max(factors["beta"], 0.0)
    result = divisive_normalization_forward(
        x.load(), _means(call), y=y.prior(factors["beta"]), **options, **factors
    )
    _overwrite(temporaries)
    y.store(result)


@implements("cudnnDivisiveNormalizationBackward")
def divisive_backward(call: Call) -> None:
    """dMeans may be NULL: then its gradient is not computed."""
    x, dy, dx = call.operands("x", "dy", "dx")
    call.check()
    temporaries, options = call.operands("temp", "temp2"), _lrn(call)
    dmeans = call.operand("dMeans", nullable=True)
    factors = call.factors()
    results = divisive_normalization_backward(
        x=x.load(),
        dy=dy.load(),
        means=_means(call),
        dx=dx.prior(factors["beta"]),
        dmeans=dmeans.prior(factors["beta"]) if dmeans.address else np.zeros(x.shape, x.dtype),
        **options,
        **factors,
    )
    _overwrite(temporaries)
    dx.store(results[0])
    if dmeans.address:
        dmeans.store(results[1])


def _means(call: Call) -> Any:
    return call.operand("means").load() if call["means"] else None


def _overwrite(temporaries: list[Operand]) -> None:
    """Fill the temporaries with NaN: on a GPU their contents are lost, too."""
    for temporary in temporaries:
        temporary.view("write")[...] = np.nan


# -- spatial transformer ---------------------------------------------------------------------------


def _transformer(call: Call) -> SpatialTransformer:
    """The descriptor: the data type of all tensors, and the shape (N, C, H, W) of the output."""
    transformer = call.record("stDesc", SpatialTransformer)
    if len(transformer.shape) != 4 or min(transformer.shape) < 1:
        raise not_supported(f"stDesc must hold 4 dimensions of at least 1, got {transformer.shape}")
    return transformer


def _grid(call: Call, transformer: SpatialTransformer, name: str, use: Use | None = None) -> Array:
    """Sampling points, (N, H, W, 2)."""
    return call.array(
        name, transformer.data_type, transformer.shape[0], *transformer.shape[2:], 2, use=use
    )


def _theta(call: Call, transformer: SpatialTransformer, name: str) -> Array:
    """Affine maps, (N, 2, 3)."""
    return call.array(name, transformer.data_type, transformer.shape[0], 2, 3)


@implements("cudnnSpatialTfGridGeneratorForward")
def grid_generator_forward(call: Call) -> None:
    transformer = _transformer(call)
    points = spatial_tf_grid_generator_forward(
        _theta(call, transformer, "theta"), transformer.shape[2:]
    )
    _grid(call, transformer, "grid", "write")[...] = points


@implements("cudnnSpatialTfGridGeneratorBackward")
def grid_generator_backward(call: Call) -> None:
    transformer = _transformer(call)
    dtheta = spatial_tf_grid_generator_backward(dgrid=_grid(call, transformer, "dgrid"))
    _theta(call, transformer, "dtheta")[...] = dtheta


@implements("cudnnSpatialTfSamplerForward")
def sampler_forward(call: Call) -> None:
    transformer = _transformer(call)

    def options(call: Call) -> dict[str, Any]:
        return {"grid": _grid(call, transformer, "grid")}

    call.compute(spatial_tf_sampler_forward, "x", "y", options, exact=True)


@implements("cudnnSpatialTfSamplerBackward")
def sampler_backward(call: Call) -> None:
    transformer = _transformer(call)
    x, dx, dy = call.operands("x", "dx", "dy")
    call.check()
    factors = call.factors()
    dgrid = _grid(call, transformer, "dgrid", "update" if factors["betaDgrid"] else "write")
    by_x, by_points = spatial_tf_sampler_backward(
        x=x.load(),
        dy=dy.load(),
        grid=_grid(call, transformer, "grid"),
        alpha=factors["alpha"],
        beta=factors["beta"],
        dx=dx.prior(factors["beta"]),
        alpha_dgrid=factors["alphaDgrid"],
        beta_dgrid=factors["betaDgrid"],
        dgrid=np.array(dgrid),
    )
    dx.store(by_x)
    dgrid[...] = by_points
