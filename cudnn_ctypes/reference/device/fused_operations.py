"""Fused operations on the reference device: plans are made and executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.descriptors import ConstantPack, FusedPlan, VariantPack
from ..arithmetic import round_to
from ..fused_operations import (
    finalize_statistics_inference,
    finalize_statistics_training,
    scale_bias_activation_backward_filter,
    scale_bias_activation_convolution,
)
from .call import Call
from .convolution_problem import Problem
from .fused_checks import (
    ACTIVATIONS,
    Constants,
    check_convolution,
    check_filter_gradient,
    check_inference,
    check_training,
    workspace_bytes,
)
from .memory import Operand, require, scribble
from .registry import Refused, bad_param, implements, not_supported


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

    def load(self, name: str, described: Any) -> NDArray[Any]:
        operand = self.operand(name, described)
        assert operand is not None, "a plan is not made without it"
        return operand.load()

    def optional(self, name: str, described: Any) -> NDArray[Any] | None:
        operand = self.operand(name, described)
        return None if operand is None else operand.load()

    def store(self, name: str, described: Any, values: NDArray[Any] | None) -> None:
        operand = self.operand(name, described)
        if operand is not None and values is not None:
            operand.store(round_to(values, numpy_dtype(described.data_type)))

    def number(self, label: str) -> Any:
        value = self.variants.get(label)
        if value is None:
            raise bad_param(f"CUDNN_{label} is not set")
        return value

    def input(self) -> dict[str, Any]:
        """Scale, bias and the activation's name."""
        activation = self.constants.get("ACTIVATION_DESC")
        equivalent = self.constants.get("BN_EQSCALEBIAS_DESC")
        return {
            "scale": self.optional("BN_EQSCALE", equivalent),
            "bias": self.optional("BN_EQBIAS", equivalent),
            "activation": "identity" if activation is None else ACTIVATIONS[activation.mode],
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
    packs.store("YDATA", y, results.y)
    statistics = packs.constants.get("YSTATS_DESC")
    packs.store("YSUM", statistics, results.y_sum)
    packs.store("YSQSUM", statistics, results.y_sqsum)


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
    averages = ("BN_RUNNING_MEAN", "BN_RUNNING_VAR")
    averaging = any(packs.constants.given(name) for name in averages)
    results = finalize_statistics_training(
        packs.load("YSUM", sums),
        packs.load("YSQSUM", sums),
        packs.number("SCALAR_INT64_T_BN_ACCUMULATION_COUNT"),
        packs.load("BN_SCALE", parameters),
        packs.load("BN_BIAS", parameters),
        epsilon=packs.number("SCALAR_DOUBLE_BN_EPSILON"),
        average_factor=packs.number("SCALAR_DOUBLE_BN_EXP_AVG_FACTOR") if averaging else 1.0,
        running_mean=packs.optional("BN_RUNNING_MEAN", parameters),
        running_variance=packs.optional("BN_RUNNING_VAR", parameters),
        compute_dtype=np.float64,
    )
    packs.store("BN_EQSCALE", equivalent, results.scale)
    packs.store("BN_EQBIAS", equivalent, results.bias)
    packs.store("BN_SAVED_MEAN", parameters, results.saved_mean)
    packs.store("BN_SAVED_INVSTD", parameters, results.saved_inv_variance)
    packs.store("BN_RUNNING_MEAN", parameters, results.running_mean)
    packs.store("BN_RUNNING_VAR", parameters, results.running_variance)


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
    packs.store("BN_EQSCALE", equivalent, scale)
    packs.store("BN_EQBIAS", equivalent, bias)


_OPERATIONS: dict[
    raw.cudnnFusedOps_t, tuple[Callable[[Constants], None], Callable[[_Packs], None]]
] = {
    raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS: (check_convolution, _convolve),
    raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD: (check_filter_gradient, _filter_gradient),
    raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING: (check_training, _finalize_training),
    raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE: (check_inference, _finalize_inference),
}
