"""Checks of a fused plan's constant pack, made when the plan is made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ... import raw
from ...dtypes import element_bits
from ...raw.descriptors import ConstantPack, Tensor
from .convolution_problem import Problem
from .registry import bad_param, not_supported

__all__ = [
    "ACTIVATIONS",
    "Constants",
    "check_convolution",
    "check_filter_gradient",
    "check_inference",
    "check_training",
    "workspace_bytes",
]

_SPATIAL = (raw.CUDNN_BATCHNORM_SPATIAL, raw.CUDNN_BATCHNORM_SPATIAL_PERSISTENT)
ACTIVATIONS: dict[int, Any] = {
    raw.CUDNN_ACTIVATION_RELU: "relu",
    raw.CUDNN_ACTIVATION_IDENTITY: "identity",
}


@dataclass(frozen=True)
class Constants:
    """The values of a constant pack, without unset labels."""

    pack: ConstantPack

    def needed(self, *labels: str) -> list[Any]:
        """The values of these labels.

        Raises
        ------
        Refused
            BAD_PARAM if a label is not set.
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

    Before Hopper cuDNN has kernels for these sums; an H200 refuses them all (9.19).
    """
    x, w, y, convolution = constants.needed("XDESC", "WDESC", "YDESC", "CONV_DESC")
    problem = Problem(x, w, convolution, y, ("XDESC", "WDESC", "CONV_DESC", "YDESC"))
    _ = problem.geometry
    _check_input(constants, x)
    _needs_pointers(constants, "XDATA", "WDATA", "YDATA")
    if constants.given("YSUM") or constants.given("YSQSUM"):
        half = all(each.data_type == raw.CUDNN_DATA_HALF for each in (x, w, y))
        channels_last = all(_channels_last(each) for each in (x, w, y))
        if not half or not channels_last:
            raise not_supported("x, w and y must be HALF in NHWC for BNSTATS")
        _check_mode(constants)
        (statistics,) = constants.needed("YSTATS_DESC")
        _check_channels("YSTATS_DESC", statistics, y.shape[1])


def check_filter_gradient(constants: Constants) -> None:
    x, w, dy, convolution = constants.needed("XDESC", "DWDESC", "DYDESC", "CONV_DESC")
    problem = Problem(x, w, convolution, dy, ("XDESC", "DWDESC", "CONV_DESC", "DYDESC"))
    _ = problem.geometry
    _check_input(constants, x)
    _needs_pointers(constants, "XDATA", "DWDATA", "DYDATA")
    types = {each.data_type for each in (x, w, dy)}
    if len(types) != 1 or not types <= {raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_FLOAT}:
        raise not_supported("x, dy and dw must all be HALF, or all FLOAT")


def check_training(constants: Constants) -> None:
    _check_mode(constants)
    sums, parameters, equivalent = constants.needed(
        "YSTATS_DESC", "BN_SCALEBIAS_MEANVAR_DESC", "BN_EQSCALEBIAS_DESC"
    )
    _needs_pointers(constants, "YSUM", "YSQSUM", "BN_SCALE", "BN_BIAS", "BN_EQSCALE", "BN_EQBIAS")
    _check_channels("BN_SCALEBIAS_MEANVAR_DESC", parameters, sums.shape[1])
    _check_channels("BN_EQSCALEBIAS_DESC", equivalent, sums.shape[1])
    _check_stored(equivalent)


def check_inference(constants: Constants) -> None:
    _check_mode(constants)
    parameters, equivalent = constants.needed("BN_SCALEBIAS_MEANVAR_DESC", "BN_EQSCALEBIAS_DESC")
    _needs_pointers(
        constants,
        "BN_SCALE",
        "BN_BIAS",
        "BN_RUNNING_MEAN",
        "BN_RUNNING_VAR",
        "BN_EQSCALE",
        "BN_EQBIAS",
    )
    _check_channels("BN_EQSCALEBIAS_DESC", equivalent, parameters.shape[1])
    _check_stored(equivalent)


def _check_input(constants: Constants, x: Tensor) -> None:
    """Check the scale, bias and activation, each of which may be absent."""
    if constants.given("BN_EQSCALE") or constants.given("BN_EQBIAS"):
        _check_mode(constants)
        (equivalent,) = constants.needed("BN_EQSCALEBIAS_DESC")
        _check_channels("BN_EQSCALEBIAS_DESC", equivalent, x.shape[1])
    activation = constants.get("ACTIVATION_DESC")
    if activation is not None and activation.mode not in ACTIVATIONS:
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
            raise bad_param(
                f"CUDNN_PARAM_{name}_PLACEHOLDER is not set, or says that the pointer is NULL"
            )


def _channels_last(described: Any) -> bool:
    shape, strides = described.shape, described.strides
    return bool(shape[1] == 1 or strides[1] == 1)


def workspace_bytes(constants: Constants) -> int:
    """Bytes: room for act(x * scale + bias), where there is an x."""
    x = constants.get("XDESC")
    return 0 if x is None else math.prod(x.shape) * element_bits(x.data_type) // 8
