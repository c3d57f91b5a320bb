"""Convolutions, causal ones, and fused operations."""

from __future__ import annotations

import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor

from .case import Case, Operands


def convolutions(o: Operands) -> dict[str, Case]:
    x, dy, w, bias = o.normal(2, 4, 6, 6), o.normal(2, 8, 6, 6), o.normal(8, 4, 3, 3), o.normal(8)
    conv = o.own(cudnn.ConvolutionDescriptor(padding=1))
    x_desc, y_desc = (o.own(cudnn.TensorDescriptor(t.shape)) for t in (x, dy))
    w_desc = o.own(cudnn.FilterDescriptor(w.shape))
    forward = cudnn.ConvolutionForward(x_desc, w_desc, conv, y_desc)
    data = cudnn.ConvolutionBackwardData(w_desc, y_desc, conv, x_desc)
    filters = cudnn.ConvolutionBackwardFilter(x_desc, y_desc, conv, w_desc)
    y, dx, dw = (o.normal(*t.shape) for t in (dy, x, w))
    int8 = DeviceTensor.from_numpy(
        np.random.default_rng(0).integers(-9, 9, (64, 32, 3, 3)).astype(np.int8),
        dtype="int8x32",
        layout="NCHW_VECT_C32",
    )
    return {
        "convolution_forward": o.case(cudnn.convolution_forward, x, w, conv),
        "convolution_backward_data": o.case(
            cudnn.convolution_backward_data, w=w, dy=dy, conv=conv, dx_shape=x.shape
        ),
        "convolution_backward_filter": o.case(
            cudnn.convolution_backward_filter, x=x, dy=dy, conv=conv, dw_shape=w.shape
        ),
        "convolution_backward_bias": o.case(cudnn.convolution_backward_bias, dy=dy),
        "convolution_bias_activation_forward": o.case(
            cudnn.convolution_bias_activation_forward, x, w, conv, bias, "relu", z=dy
        ),
        "ConvolutionForward.run": o.case(forward.run, x=x, w=w, y=y),
        "ConvolutionBackwardData.run": o.case(data.run, w=w, dy=dy, dx=dx),
        "ConvolutionBackwardFilter.run": o.case(filters.run, x=x, dy=dy, dw=dw),
        "im2col": o.case(cudnn.im2col, x, w_desc, conv),
        "reorder_filter_and_bias": o.case(cudnn.reorder_filter_and_bias, int8, o.normal(64)),
    }


def causal_convolutions(o: Operands) -> dict[str, Case]:
    x, w, dy = o.normal(2, 3, 16), o.normal(3, 4), o.normal(2, 3, 16)
    long, wide, dlong = o.normal(1, 2, 256), o.normal(2, 128), o.normal(1, 2, 256)
    return {
        "causal_convolution_forward": o.on_stream(cudnn.causal_convolution_forward, x, w),
        "causal_convolution_backward": o.on_stream(
            cudnn.causal_convolution_backward, x=x, w=w, dy=dy
        ),
        "fft_causal_convolution_forward": o.on_stream(
            cudnn.fft_causal_convolution_forward, long, wide
        ),
        "fft_causal_convolution_backward": o.on_stream(
            cudnn.fft_causal_convolution_backward, x=long, w=wide, dy=dlong
        ),
    }


def back_to_back_convolutions(o: Operands) -> dict[str, Case]:
    x, dgated = o.normal(2, 4, 3, 16), o.normal(2, 4, 16)
    given = {"w_proj": o.normal(4, 3, 3), "w_mixer": o.normal(4, 5), "skip_bias": o.normal(4)}
    made = cudnn.back_to_back_convolution_forward(x, **given, stream=o.handle.stream)
    return {
        "back_to_back_convolution_forward": o.on_stream(
            cudnn.back_to_back_convolution_forward, x, **given
        ),
        "back_to_back_convolution_backward": o.on_stream(
            cudnn.back_to_back_convolution_backward, x=x, **given, y=made.y, dgated=dgated
        ),
    }


def long_fft_convolutions(o: Operands) -> dict[str, Case]:
    x, w, dy = o.normal(1, 2, 4096), o.normal(2, 4096), o.normal(1, 2, 4096)
    made = cudnn.long_fft_causal_convolution_forward(x, w, stream=o.handle.stream)
    return {
        "long_fft_causal_convolution_forward": o.on_stream(
            cudnn.long_fft_causal_convolution_forward, x, w
        ),
        "long_fft_causal_convolution_backward": o.on_stream(
            cudnn.long_fft_causal_convolution_backward, dy=dy, reserve_space=made.reserve_space
        ),
    }


def fused(o: Operands) -> dict[str, Case]:
    x, w, dy = o.half(2, 8, 6, 6), o.half(32, 8, 3, 3), o.half(2, 32, 6, 6)
    conv = o.own(
        cudnn.ConvolutionDescriptor(1, compute_data_type="float32", math_type="tensor_op_math")
    )
    sums = [o.full(value, 1, 32, 1, 1) for value in (0, 72, 1, 1, 0.5, 0.5)]
    names = ("bn_scale", "bn_bias", "bn_running_mean", "bn_running_var", "bn_eqscale", "bn_eqbias")
    memory = dict(zip(names, (*sums[2:], o.half(1, 32, 1, 1), o.half(1, 32, 1, 1)), strict=True))
    operation = "fused_bn_finalize_statistics_inference"
    constants = o.own(
        cudnn.FusedOpsConstParamPack(
            operation,
            bn_mode="spatial",
            bn_scalebias_meanvar_desc=o.own(cudnn.TensorDescriptor((1, 32, 1, 1))),
            bn_eqscalebias_desc=o.own(cudnn.TensorDescriptor((1, 32, 1, 1), "float16")),
            **{f"{name}_placeholder": "ptr_16b_aligned" for name in names},
        )
    )
    variants = o.own(
        cudnn.FusedOpsVariantParamPack(
            operation,
            scalar_double_bn_epsilon=1e-3,
            **{f"ptr_{name}": tensor for name, tensor in memory.items()},
        )
    )
    plan = o.own(cudnn.FusedOpsPlan(operation))
    plan.make(o.handle, constants)
    return {
        "FusedOpsPlan.execute": o.case(plan.execute, variants),
        "scale_bias_activation_convolution": o.case(
            cudnn.scale_bias_activation_convolution, x, w, conv, statistics=False
        ),
        "scale_bias_activation_backward_filter": o.case(
            cudnn.scale_bias_activation_backward_filter, x=x, dy=dy, conv=conv, dw_shape=w.shape
        ),
        "finalize_statistics_training": o.case(
            cudnn.finalize_statistics_training, *sums[:2], 72, *sums[2:4], average_factor=1.0
        ),
        "finalize_statistics_inference": o.case(
            cudnn.finalize_statistics_inference, sums[2], sums[3], sums[4], sums[5]
        ),
    }
