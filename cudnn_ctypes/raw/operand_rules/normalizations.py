"""Operands of batch normalization, by the C functions of both generations.

Statuses are those in cuDNN's documentation, and of cuDNN 9.14 and 9.19 where these were measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import enums
from ..ctypes_support import CudnnEnum
from ..descriptors import Activation
from ..strides import is_packed, layout_order, packed, same_layout
from .language import (
    FLOATING,
    NOT_SUPPORTED,
    Broken,
    Operand,
    Rules,
    cudnn_only,
    equal,
    no_kernel,
    ranked,
    rules,
    same,
    typed,
    unchecked,
    with_status,
)

Ints = tuple[int, ...]


class Form(NamedTuple):
    """The computation of a call, by its enumerators.

    - `per_activation`: one mean, variance, scale and bias for each activation, or else for each
      channel.
    - `persistent`: the algorithm that keeps its data on the chip.
    - `relu`, `adds`: the operations afterwards: an activation, and adding z before it.
    """

    per_activation: bool
    persistent: bool
    relu: bool
    adds: bool

    @classmethod
    def of(cls, mode: Any, operations: Any = 0, algorithm: Any = None) -> Form:
        """The form by the enumerators of either generation."""
        if algorithm is None:
            return cls(
                mode == enums.CUDNN_BATCHNORM_PER_ACTIVATION,
                mode == enums.CUDNN_BATCHNORM_SPATIAL_PERSISTENT,
                operations != enums.CUDNN_BATCHNORM_OPS_BN,
                operations == enums.CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION,
            )
        return cls(
            mode == enums.CUDNN_NORM_PER_ACTIVATION,
            algorithm == enums.CUDNN_NORM_ALGO_PERSIST,
            operations != enums.CUDNN_NORM_OPS_NORM,
            operations == enums.CUDNN_NORM_OPS_NORM_ADD_ACTIVATION,
        )

    def parameter_shape(self, x: Ints) -> Ints:
        """The shape of scale, bias, mean and variance for an x of this shape."""
        return (1, *x[1:]) if self.per_activation else (1, x[1], *(1,) * (len(x) - 2))


def parameter_type(data_type: enums.cudnnDataType_t) -> enums.cudnnDataType_t:
    """The data type of scale, bias, mean and variance for an x of this type."""
    return (
        enums.CUDNN_DATA_DOUBLE if data_type == enums.CUDNN_DATA_DOUBLE else enums.CUDNN_DATA_FLOAT
    )


def parameter(operand: Operand, shape: Ints, data_type: enums.cudnnDataType_t) -> Iterator[Broken]:
    """A descriptor of scale, bias, mean or variance is that which cuDNN derives from x."""
    if (operand.shape, operand.data_type) != (shape, data_type):
        yield Broken(
            operand.name,
            f"expected shape {shape} of {data_type.name}, got {operand.shape} of "
            f"{operand.data_type.name}",
        )


def _null(name: str) -> Broken:
    return Broken(name, "it is NULL, or was never set", by_meaning=False)


def _unknown(**enumerators: Any) -> Iterator[Broken]:
    """Codes that no enumerator has."""
    for name, value in enumerators.items():
        if isinstance(value, CudnnEnum) and not value.known:
            yield Broken(name, f"{type(value).__name__} has no {int(value)}", by_meaning=False)


@rules(
    "cudnnBatchNormalizationForwardInference",
    "cudnnBatchNormalizationForwardTraining",
    "cudnnBatchNormalizationBackward",
    "cudnnNormalizationForwardInference",
    memory="x",
)
@rules(
    "cudnnBatchNormalizationForwardTrainingEx",
    "cudnnBatchNormalizationBackwardEx",
    "cudnnNormalizationForwardTraining",
    "cudnnNormalizationBackward",
    memory="xData",
)
@rules(
    "cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize",
    "cudnnGetBatchNormalizationBackwardExWorkspaceSize",
    "cudnnGetBatchNormalizationTrainingExReserveSpaceSize",
    "cudnnGetNormalizationForwardTrainingWorkspaceSize",
    "cudnnGetNormalizationBackwardWorkspaceSize",
    "cudnnGetNormalizationTrainingReserveSpaceSize",
)
def normalization(
    function: str,
    mode: Any,
    xDesc: Operand | None,
    memory: Operand | None = None,
    bnOps: Any = enums.CUDNN_BATCHNORM_OPS_BN,
    normOps: Any = None,
    algo: Any = None,
    groupCnt: int = 1,
    activationDesc: Activation | None = None,
    yDesc: Operand | None = None,
    dyDesc: Operand | None = None,
    dxDesc: Operand | None = None,
    zDesc: Operand | None = None,
    dzDesc: Operand | None = None,
    bnScaleBiasMeanVarDesc: Operand | None = None,
    dBnScaleBiasDesc: Operand | None = None,
    normScaleBiasDesc: Operand | None = None,
    normMeanVarDesc: Operand | None = None,
    dNormScaleBiasDesc: Operand | None = None,
) -> Rules:
    inference, asks = "Inference" in function, function.endswith("Size")
    x = xDesc
    if normOps is None:
        yield from _unknown(mode=mode)
        yield from _unknown(bnOps=bnOps)
        form = Form.of(mode, bnOps)
    else:
        form = Form.of(mode, normOps, algo)
        if groupCnt != 1:
            yield Broken("groupCnt", f"expected 1, got {groupCnt}", NOT_SUPPORTED, by_meaning=False)
        yield from same(normScaleBiasDesc, normMeanVarDesc)
        if normMeanVarDesc is None and not asks:
            yield _null("normMeanVarDesc")
        if not inference:
            yield from _unknown(normOps=normOps)
        yield from cudnn_only(_unknown(mode=mode, normOps=normOps, algo=algo), NOT_SUPPORTED)
        if form.per_activation and form.persistent:
            sentence = "the persistent algorithm is for one scale per channel"
            yield Broken("mode", sentence, NOT_SUPPORTED, by_meaning=False)
    if x is None or (memory is None and not asks):
        yield _null("xDesc")
        return
    if inference and form.relu:
        yield no_kernel(x, "in inference nothing can follow the normalization")
    yield from cudnn_only(ranked("a normalization", x, 4, 5))
    yield from typed(
        "normalization", x, (*FLOATING, enums.CUDNN_DATA_INT8) if inference else FLOATING
    )
    yield from same(x, yDesc, dyDesc, dxDesc)
    fused = form.relu and form.persistent and x.data_type != enums.CUDNN_DATA_DOUBLE
    looks = asks and normOps is None  # only then strides of single elements do not count
    added = [each for each in (zDesc, dzDesc) if form.adds and each]
    for each in (yDesc, dyDesc, dxDesc, *added):
        if fused and each is not None:
            if each not in added or x.data_type != enums.CUDNN_DATA_FLOAT:
                yield from same(x, each)
            alike = same_layout(each, x) if looks else each.strides == x.strides
            if each.shape == x.shape and not alike:
                yield no_kernel(each, f"expected the layout of {x.name}, got {each.strides}")
    if asks and form.adds:
        yield from with_status(NOT_SUPPORTED, equal("data_type", x, zDesc))
        yield from same(x, dzDesc)
    parameters = [
        each
        for each in (
            bnScaleBiasMeanVarDesc,
            dBnScaleBiasDesc,
            normScaleBiasDesc,
            normMeanVarDesc,
            dNormScaleBiasDesc,
        )
        if each is not None
    ]
    # BFLOAT16 in the functions that newer generations have or share.
    plain = function.removeprefix("cudnnBatchNormalization") in ("ForwardTraining", "Backward")
    alike = len({each.data_type for each in parameters}) == 1
    brain = x.data_type == enums.CUDNN_DATA_BFLOAT16 and not plain and alike
    for each in parameters:
        wanted = parameter_type(x.data_type)
        if brain and each.data_type != wanted:
            yield no_kernel(
                each, f"parameters of BFLOAT16 must be FLOAT, got {each.data_type.name}"
            )
        yield from parameter(each, form.parameter_shape(x.shape), wanted)
    if not form.relu or (asks and not form.persistent):
        return
    if activationDesc is None:
        yield _null("activationDesc")
        return
    unseen = asks and not form.adds and activationDesc.mode == enums.CUDNN_ACTIVATION_SWISH
    if activationDesc.mode != enums.CUDNN_ACTIVATION_RELU and not unseen:
        yield no_kernel(x, f"only RELU can follow, not {activationDesc.mode.name}")
    nhwc = packed(x.shape, layout_order("nhwc", len(x.shape)))
    last = is_packed(x, "nhwc") if looks else x.strides == nhwc
    if x.data_type == enums.CUDNN_DATA_DOUBLE or not (form.persistent and last):
        yield no_kernel(
            x,
            "an activation can follow only in FLOAT, HALF and BFLOAT16, with packed NHWC tensors "
            "and the persistent algorithm",
        )
    if form.adds and x.shape[1] % 4:
        yield no_kernel(x, f"with an added tensor, 4 must divide the {x.shape[1]} channels")
    yield from unchecked(same(x, *added))  # cuDNN looks at NULL statistics first
