"""Fused operations on the reference device: plans are made and executed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import element_bits, numpy_dtype
from ...raw.descriptors import ConstantPack, FusedPlan, Tensor, VariantPack
from ...raw.strides import packed
from ..arithmetic import round_to
from ..fused_operations import (
    finalize_statistics_inference,
    finalize_statistics_training,
    scale_bias_activation_backward_filter,
    scale_bias_activation_convolution,
)
from ..tiles import Array
from .call import Call, word
from .convolution import FUSED
from .convolution_problem import Problem
from .memory import Operand, require, scribble
from .registry import Refused, bad_param, implements, not_supported

_SPATIAL = (raw.CUDNN_BATCHNORM_SPATIAL, raw.CUDNN_BATCHNORM_SPATIAL_PERSISTENT)


@dataclass(frozen=True)
class Constants:
    """The values of a constant pack, without unset labels."""

    pack: ConstantPack

    def needed(self, *labels: str) -> list[Any]:
        """The values of these labels.

        Raises Refused BAD_PARAM if a label is not set.
        """
        for label in labels:
            if label not in self.pack.held:
                raise bad_param(f"CUDNN_PARAM_{label} is not set")
        return [self.pack.held[label] for label in labels]

    def get(self, label: str) -> Any:
        """The value, None if it is not set."""
        return self.pack.held.get(label)

    def given(self, label: str) -> bool:
        """Whether the pointer of this name will be one: its placeholder is set, and not to NULL."""
        return bool(self.pack.held.get(f"{label}_PLACEHOLDER", 0))


def check_convolution(constants: Constants) -> None:
    """Refuse sums of all but half precision in NHWC.

    Before Hopper cuDNN has kernels for these sums; an H200 refuses them all (9.19). It makes plans
    without placeholders, or with one of two, and refuses to execute them.
    """
    x, w, y, convolution = constants.needed("XDESC", "WDESC", "YDESC", "CONV_DESC")
    problem = Problem(x, w, convolution, y, ("XDESC", "WDESC", "CONV_DESC", "YDESC"))
    _ = problem.geometry
    _check_input(constants, x)
    statistics = constants.get("YSTATS_DESC")  # without it cuDNN passes over the sums
    if statistics is not None and constants.given("YSUM") and constants.given("YSQSUM"):
        half = all(each.data_type == raw.CUDNN_DATA_HALF for each in (x, w, y))
        channels_last = all(_channels_last(each) for each in (x, w, y))
        if not half or not channels_last:
            raise not_supported("x, w and y must be HALF in NHWC for BNSTATS")
        _check_mode(constants)
        _check_channels("YSTATS_DESC", statistics, y.shape[1])


def check_filter_gradient(constants: Constants) -> None:
    x, w, dy, convolution = constants.needed("XDESC", "DWDESC", "DYDESC", "CONV_DESC")
    problem = Problem(x, w, convolution, dy, ("XDESC", "DWDESC", "CONV_DESC", "DYDESC"))
    _ = problem.geometry
    _check_input(constants, x)
    types = {each.data_type for each in (x, w, dy)}
    if len(types) != 1 or not types <= {raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_FLOAT}:
        raise not_supported("x, dy and dw must all be HALF, or all FLOAT")


def check_training(constants: Constants) -> None:
    _check_mode(constants)
    sums, parameters, equivalent = constants.needed(
        "YSTATS_DESC", "BN_SCALEBIAS_MEANVAR_DESC", "BN_EQSCALEBIAS_DESC"
    )
    _needs_pointers(constants, "YSUM", "YSQSUM", "BN_SCALE", "BN_BIAS")
    _check_channels("BN_SCALEBIAS_MEANVAR_DESC", parameters, sums.shape[1])
    _check_channels("BN_EQSCALEBIAS_DESC", equivalent, sums.shape[1])
    _check_stored(equivalent)


def check_inference(constants: Constants) -> None:
    _check_mode(constants)
    parameters, equivalent = constants.needed("BN_SCALEBIAS_MEANVAR_DESC", "BN_EQSCALEBIAS_DESC")
    _needs_pointers(constants, "BN_SCALE", "BN_BIAS", "BN_RUNNING_MEAN", "BN_RUNNING_VAR")
    _check_channels("BN_EQSCALEBIAS_DESC", equivalent, parameters.shape[1])
    _check_stored(equivalent)


def _check_input(constants: Constants, x: Tensor) -> None:
    """Check the scale, bias and activation, each of which may be absent."""
    if constants.given("BN_EQSCALE") or constants.given("BN_EQBIAS"):
        _check_mode(constants)
        equivalent = constants.get("BN_EQSCALEBIAS_DESC")  # without it a plan is made
        if equivalent is not None:
            _check_channels("BN_EQSCALEBIAS_DESC", equivalent, x.shape[1])
    activation = constants.get("ACTIVATION_DESC")
    if activation is not None and activation.mode not in FUSED:
        raise not_supported(f"activation {activation.mode.name}")


def _check_mode(constants: Constants) -> None:
    (mode,) = constants.needed("BN_MODE")
    if mode not in _SPATIAL:
        raise not_supported(f"BN_MODE must be spatial, is {mode}")


def _check_channels(label: str, described: Tensor, channels: int) -> None:
    wanted = (1, channels, *(1,) * (len(described.shape) - 2))
    if described.shape != wanted:
        raise bad_param(f"CUDNN_PARAM_{label} must have shape {wanted}, has {described.shape}")


def _check_stored(equivalent: Tensor) -> None:
    if equivalent.data_type not in (
        raw.CUDNN_DATA_HALF,
        raw.CUDNN_DATA_FLOAT,
        raw.CUDNN_DATA_DOUBLE,
    ):
        raise not_supported(
            f"BN_EQSCALEBIAS_DESC must be HALF, FLOAT or DOUBLE, is {equivalent.data_type.name}"
        )


def _needs_pointers(constants: Constants, *names: str) -> None:
    for name in names:
        if not constants.given(name):
            raise _without_pointer(name)


def _without_pointer(name: str) -> Refused:
    return bad_param(f"CUDNN_PARAM_{name}_PLACEHOLDER is not set, or says that the pointer is NULL")


def _channels_last(described: Any) -> bool:
    shape, strides = described.shape, described.strides
    return bool(shape[1] == 1 or strides[1] == 1)


def workspace_bytes(constants: Constants) -> int:
    """Bytes: room for act(x * scale + bias), where there is an x."""
    x = constants.get("XDESC")
    return 0 if x is None else math.prod(x.shape) * element_bits(x.data_type) // 8


@implements("cudnnMakeFusedOpsPlan")
def make_plan(call: Call) -> None:
    call.require("workspaceSizeInBytes")
    constants = call.record("constPack", ConstantPack)
    wanted = call.record("plan", FusedPlan).operation
    if constants.operation != wanted:
        raise bad_param(f"constPack is for {constants.operation.name}, plan for {wanted.name}")
    if wanted not in _OPERATIONS:
        raise not_supported(f"{wanted.name} is reserved for future use")
    check, _ = _OPERATIONS[wanted]
    check(Constants(constants))
    call.put(workspaceSizeInBytes=workspace_bytes(Constants(constants)))


@implements("cudnnFusedOpsExecute")
def execute(call: Call) -> None:
    constants = call.record("plan", FusedPlan).constants
    if constants is None:
        raise Refused(raw.CUDNN_STATUS_NOT_INITIALIZED, "plan was created, but never made")
    variants = call.record("varPack", VariantPack)
    if variants.operation != constants.operation:
        raise bad_param("varPack and plan are for different operations")
    _, carry_out = _OPERATIONS[constants.operation]
    packs = _Packs(Constants(constants), variants.held)
    packs.use_workspace()
    carry_out(packs)


# --- executing -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Packs:
    """The constants of a plan and the pointers and numbers of one execution."""

    constants: Constants
    variants: Mapping[str, Any]

    def use_workspace(self) -> None:
        needed = workspace_bytes(self.constants)
        size = self.variants.get("SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES") or 0
        if size < needed:
            raise bad_param(
                f"CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES must be at least {needed}, is {size}"
            )
        scribble(self.variants.get("PTR_WORKSPACE"), needed, "CUDNN_PTR_WORKSPACE")

    def operand(self, name: str, described: Any) -> Operand | None:
        """The pointer of this name, None where its placeholder says NULL."""
        if not self.constants.given(name):
            return None
        address = self.variants.get(f"PTR_{name}")
        require(**{f"CUDNN_PTR_{name}": address})
        aligned = self.constants.get(f"{name}_PLACEHOLDER") == raw.CUDNN_PTR_16B_ALIGNED
        if aligned and address and address % 16:
            raise bad_param(
                f"CUDNN_PTR_{name} is {address:#x}; its placeholder promises 16-byte alignment"
            )
        return Operand(f"CUDNN_PTR_{name}", described, address)

    def both(self, described: Any, names: Sequence[str]) -> tuple[Operand, ...]:
        """Two operands, none where both placeholders say NULL, or nothing describes them."""
        if not any(map(self.constants.given, names)) or described is None:
            return ()
        _needs_pointers(self.constants, *names)
        return tuple(operand for name in names if (operand := self.operand(name, described)))

    def load(self, name: str, described: Any) -> Array:
        return self._needed(name, described).load()

    def store(self, name: str, described: Any, values: Array) -> None:
        _store(self._needed(name, described), values)

    def _needed(self, name: str, described: Any) -> Operand:
        operand = self.operand(name, described)
        if operand is None:
            raise _without_pointer(name)
        return operand

    def finalized(self, name: str, described: Any) -> Operand | None:
        """Results that cuDNN finalizes wherever the pointer is given, whatever placeholders say."""
        if self.constants.given(name):
            return self.operand(name, described)
        address = self.variants.get(f"PTR_{name}")
        return Operand(f"CUDNN_PTR_{name}", described, address) if address else None

    def number(self, label: str) -> Any:
        value = self.variants.get(label)
        if value is None:
            raise bad_param(f"CUDNN_{label} is not set")
        return value

    def input(self) -> dict[str, Any]:
        """Scale, bias and the activation's name.

        Without a descriptor of scale and bias cuDNN applies them only before ReLU.
        """
        activation = self.constants.get("ACTIVATION_DESC")
        described = self.constants.get("BN_EQSCALEBIAS_DESC")
        mode = raw.CUDNN_ACTIVATION_IDENTITY if activation is None else activation.mode
        relu = mode == raw.CUDNN_ACTIVATION_RELU
        if described is None and relu:
            (x,) = self.constants.needed("XDESC")
            few = (1, x.shape[1], *(1,) * (len(x.shape) - 2))
            described = Tensor(x.data_type, few, packed(few))
        affine = self.both(described, ("BN_EQSCALE", "BN_EQBIAS"))
        scale, bias = (each.load() for each in affine) if affine else (None, None)
        return {
            "scale": scale,
            "bias": bias,
            "activation": "identity"
            if activation is None
            else word(activation.mode, "CUDNN_ACTIVATION_"),
        }


def _convolve(packs: _Packs) -> None:
    x, w, y, convolution = packs.constants.needed("XDESC", "WDESC", "YDESC", "CONV_DESC")
    problem = Problem(x, w, convolution, y, ("XDESC", "WDESC", "CONV_DESC", "YDESC"))
    results = scale_bias_activation_convolution(
        packs.load("XDATA", x),
        packs.load("WDATA", w),
        **packs.input(),
        options=problem.options,
        compute_dtype=problem.compute_dtype,
        out_dtype=numpy_dtype(y.data_type),
    )
    sums = packs.both(packs.constants.get("YSTATS_DESC"), ("YSUM", "YSQSUM"))
    packs.store("YDATA", y, results.y)
    for operand, values in zip(sums, (results.y_sum, results.y_sqsum), strict=False):
        _store(operand, values)


def _filter_gradient(packs: _Packs) -> None:
    x, w, dy, convolution = packs.constants.needed("XDESC", "DWDESC", "DYDESC", "CONV_DESC")
    problem = Problem(x, w, convolution, dy, ("XDESC", "DWDESC", "CONV_DESC", "DYDESC"))
    dw = scale_bias_activation_backward_filter(
        x=packs.load("XDATA", x),
        dy=packs.load("DYDATA", dy),
        dw_shape=w.shape,
        **packs.input(),
        options=problem.options,
        compute_dtype=problem.compute_dtype,
        out_dtype=numpy_dtype(w.data_type),
    )
    packs.store("DWDATA", w, dw)


def _finalize_training(packs: _Packs) -> None:
    sums, parameters, equivalent = packs.constants.needed(
        "YSTATS_DESC", "BN_SCALEBIAS_MEANVAR_DESC", "BN_EQSCALEBIAS_DESC"
    )
    mean, variance = (
        packs.finalized(name, parameters) for name in ("BN_RUNNING_MEAN", "BN_RUNNING_VAR")
    )
    averaging = mean is not None or variance is not None
    results = finalize_statistics_training(
        packs.load("YSUM", sums),
        packs.load("YSQSUM", sums),
        packs.number("SCALAR_INT64_T_BN_ACCUMULATION_COUNT"),
        packs.load("BN_SCALE", parameters),
        packs.load("BN_BIAS", parameters),
        epsilon=packs.number("SCALAR_DOUBLE_BN_EPSILON"),
        average_factor=packs.number("SCALAR_DOUBLE_BN_EXP_AVG_FACTOR") if averaging else 1.0,
        running_mean=None if mean is None else mean.load(),
        running_variance=None if variance is None else variance.load(),
        compute_dtype=np.float64,
    )
    for operand, values in (
        (packs.finalized("BN_EQSCALE", equivalent), results.scale),
        (packs.finalized("BN_EQBIAS", equivalent), results.bias),
        (packs.finalized("BN_SAVED_MEAN", parameters), results.saved_mean),
        (packs.finalized("BN_SAVED_INVSTD", parameters), results.saved_inv_variance),
        (mean, results.running_mean),
        (variance, results.running_variance),
    ):
        _store(operand, values)


def _finalize_inference(packs: _Packs) -> None:
    parameters, equivalent = packs.constants.needed(
        "BN_SCALEBIAS_MEANVAR_DESC", "BN_EQSCALEBIAS_DESC"
    )
    scale, bias = finalize_statistics_inference(
        packs.load("BN_SCALE", parameters),
        packs.load("BN_BIAS", parameters),
        packs.load("BN_RUNNING_MEAN", parameters),
        packs.load("BN_RUNNING_VAR", parameters),
        epsilon=packs.number("SCALAR_DOUBLE_BN_EPSILON"),
    )
    _store(packs.finalized("BN_EQSCALE", equivalent), scale)
    _store(packs.finalized("BN_EQBIAS", equivalent), bias)


def _store(operand: Operand | None, values: Array | None) -> None:
    if operand is not None and values is not None:
        operand.store(round_to(values, operand.dtype))


_OPERATIONS: dict[
    raw.cudnnFusedOps_t, tuple[Callable[[Constants], None], Callable[[_Packs], None]]
] = {
    raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS: (check_convolution, _convolve),
    raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD: (check_filter_gradient, _filter_gradient),
    raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING: (check_training, _finalize_training),
    raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE: (check_inference, _finalize_inference),
}
