"""Batch normalization fused into the convolutions before and after it.

A convolution applies a scale and a bias per channel to its input, and sums up its output; the
functions of `fused_statistics` make of these sums the next scale and bias. The formulas stand in
``cudnn_ctypes.reference.fused_operations``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..arguments import expect, integer, integers
from ..handle import Handle
from ..raw import operand_rules
from ..raw.memory import memory_pointer
from ..raw.operand_rules.convolutions import fitting
from ..raw.records import record
from ..runtime.launching.plan import Memory, launch
from .activation import FUSED, ActivationDescriptor
from .convolution import ConvolutionDescriptor
from .documentation import launched_by_alignment
from .fused_packs import FusedOpsConstParamPack, FusedOpsPlan, FusedOpsVariantParamPack
from .operands import Made, Operands, real

# Memory of this package is aligned to 16 bytes, which cuDNN's kernels for convolutions want.
ALIGNED, ELEMENT_ALIGNED = "ptr_16b_aligned", "ptr_elem_aligned"


class FusedCall(Operands):
    """The operands of one call, which go to C in packs, one after the other.

    - `**values`: the operands by name; None for those that are absent, and for results to be made.
    """

    def __init__(self, handle: Handle, operation: raw.cudnnFusedOps_t, **values: Any) -> None:
        super().__init__(handle, **{name: (value, None) for name, value in values.items()})
        self._values_given = values
        self.operation = operation
        self.constants: dict[str, Any] = {}
        self.pointers: dict[str, Memory] = {}
        self.numbers: dict[str, Any] = {}

    def pack(
        self, name: str, desc: Any, desc_label: str, label: str, *, written: bool = False
    ) -> Any:
        """Add an operand under C's labels; return its descriptor."""
        memory = self.memory(name, written=written)
        self.pointers[f"ptr_{label}"] = memory
        self.constants[desc_label] = desc
        aligned = (memory_pointer(memory, name) or 0) % 16 == 0
        self.constants[f"{label}_placeholder"] = ALIGNED if aligned else ELEMENT_ALIGNED
        return desc

    def same(
        self,
        name: str,
        shape: tuple[int, ...],
        desc_label: str,
        label: str,
        *,
        written: bool = False,
    ) -> None:
        """Add an operand of float32 that must have this shape."""
        desc = self.pack(name, self.describe(name), desc_label, label, written=written)
        if desc.shape != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {desc.shape}")
        if desc.data_type != raw.CUDNN_DATA_FLOAT:
            raise TypeError(f"{name}: expected float32, got {desc.data_type.name}")

    def result(self, name: str, shape: tuple[int, ...], data_type: Any) -> Any:
        """The result `name`: as it was given, or an uninitialised tensor."""
        value = self._values_given[name]
        return self.make(name, shape, data_type) if value is None else value

    def affine(self, name: str, shape: tuple[int, ...], *, written: bool = False) -> None:
        """Add the scale or the bias of a tensor of this shape; both have one type."""
        desc = self.describe_channels(name, shape)
        before = self.constants.get("bn_eqscalebias_desc", desc)
        if before.data_type != desc.data_type:
            raise TypeError("bias: must be of the type of scale")
        self.pack(name, desc, "bn_eqscalebias_desc", f"bn_eq{name}", written=written)
        self.constants["bn_mode"] = "spatial"

    def input(
        self, x_shape: tuple[int, ...], activation: ActivationDescriptor | str | None
    ) -> None:
        """Add what is applied to x."""
        for name in ("scale", "bias"):
            if self._values_given[name] is not None:
                self.affine(name, x_shape)
        if activation is not None:
            self.constants["activation_desc"] = self.descriptor(
                "activation", activation, ActivationDescriptor, **FUSED
            )

    def parameters(self, shape: tuple[int, ...]) -> None:
        """Add what batch normalization learns and averages."""
        self.constants["bn_mode"] = "spatial"
        labels = {"bn_scale": "bn_scale", "bn_bias": "bn_bias"}
        averages = {"running_mean": "bn_running_mean", "running_variance": "bn_running_var"}
        absent = [name for name in averages if self._values_given[name] is None]
        if len(absent) == 1:
            raise ValueError("running_mean and running_variance: give both or none")
        for name, label in (labels if absent else {**labels, **averages}).items():
            desc_label = "bn_scalebias_meanvar_desc"
            self.same(name, shape, desc_label, label, written=name in averages)

    def equivalent(self, shape: tuple[int, ...], data_type: Any) -> tuple[Any, Any]:
        """Add the results scale and bias."""
        scale, bias = (self.result(name, shape, data_type) for name in ("scale", "bias"))
        for name in ("scale", "bias"):
            self.affine(name, shape, written=True)
        return scale, bias

    def run(self, workspace: Any) -> None:
        """Make the plan and execute it."""
        constants = self.enter_context(FusedOpsConstParamPack(self.operation, **self.constants))
        plan = self.enter_context(FusedOpsPlan(self.operation))
        space, size = self.workspace(workspace, plan.make(self._handle, constants))
        if space is not None:
            self.pointers["ptr_workspace"] = space
        self.numbers["scalar_size_t_workspace_size_in_bytes"] = size
        variants = self.enter_context(FusedOpsVariantParamPack(self.operation, **self.numbers))
        for label, memory in self.pointers.items():
            member = raw.cudnnFusedOpsVariantParamLabel_t[f"CUDNN_{label.upper()}"]
            launch(raw.cudnnSetFusedOpsVariantParamPackAttribute, variants, member, memory)
        launch(raw.cudnnFusedOpsExecute, self._handle, plan, variants)


class ConvolutionStatisticsResult(NamedTuple):
    """y (N, K, output...), and the sums of y and y^2, float32 (1, K, 1...); None without them."""

    y: Any
    y_sum: Any
    y_sqsum: Any


def _check_fit(conv: ConvolutionDescriptor, **descriptors: Any) -> None:
    x, w, y = (operand_rules.Operand(name, record(each)) for name, each in descriptors.items())
    operand_rules.refuse(fitting(x, w, record(conv), y))


@launched_by_alignment
def scale_bias_activation_convolution(
    handle: Handle,
    x: Any,
    w: Any,
    conv: ConvolutionDescriptor,
    scale: Any = None,
    bias: Any = None,
    y: Any = None,
    *,
    y_sum: Any = None,
    y_sqsum: Any = None,
    activation: ActivationDescriptor | str | None = None,
    statistics: bool = True,
    workspace: Any = None,
) -> ConvolutionStatisticsResult:
    """y = conv(act(x * scale + bias), w), with the sums of y and y^2.

    Follows ``CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS``.

    Parameters
    ----------
    x : tensor
        (N, C, H, W), float16 in NHWC; cuDNN has kernels for nothing else.
    w : tensor
        (K, C / groups, R, S), in the type and layout of x.
    scale, bias : tensor, optional
        (C,) or (1, C, 1, 1). Default: not applied.
    y : tensor, optional
        Default: allocated.
    y_sum, y_sqsum : tensor, optional
        float32 (1, K, 1...). Default: allocated.
    activation : ActivationDescriptor or str, optional
        "relu" or "identity", the default.
    statistics : bool
        Whether to sum up; cuDNN 9.14 and 9.19 have kernels for that up to compute capability 8.9.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 8, 4, 4), 1, "float16", layout="NHWC")
    >>> w = DeviceTensor.full((8, 8, 1, 1), 1, "float16", layout="NHWC")
    >>> scale, bias = (DeviceTensor.full((8,), value, "float16") for value in (2, 1))
    >>> with Handle() as handle, ConvolutionDescriptor() as conv:
    ...     result = scale_bias_activation_convolution(
    ...         handle, x, w, conv, scale, bias, activation="relu", statistics=False
    ...     )
    >>> result.y.numpy()[0, 0, 0, 0].item()  # 8 channels of 2 * 1 + 1
    24.0
    """
    if not statistics and (y_sum is not None or y_sqsum is not None):
        raise ValueError("y_sum and y_sqsum: only with statistics=True")
    tensors = {"x": x, "w": w, "scale": scale, "bias": bias}
    tensors |= {"y": y, "y_sum": y_sum, "y_sqsum": y_sqsum}
    operation = raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS
    with FusedCall(handle, operation, **tensors) as call:
        x_desc = call.pack("x", call.describe("x"), "xdesc", "xdata")
        w_desc = call.pack("w", call.describe_filter("w"), "wdesc", "wdata")
        call.constants["conv_desc"] = expect("conv", conv, ConvolutionDescriptor)
        shape = conv.output_shape(x_desc, w_desc)
        y = call.result("y", shape, x_desc.data_type)
        y_desc = call.pack("y", call.describe("y"), "ydesc", "ydata", written=True)
        _check_fit(conv, x=x_desc, w=w_desc, y=y_desc)
        call.input(x_desc.shape, activation)
        if statistics:
            # Unset it is per activation, and cuDNN wants sums for every pixel, which no kernel has.
            call.constants["bn_mode"] = "spatial"
            wanted = (1, shape[1], *(1,) * (len(shape) - 2))
            y_sum = call.result("y_sum", wanted, "float32")
            y_sqsum = call.result("y_sqsum", wanted, "float32")
            call.same("y_sum", wanted, "ystats_desc", "ysum", written=True)
            call.same("y_sqsum", wanted, "ystats_desc", "ysqsum", written=True)
        call.run(workspace)
    return ConvolutionStatisticsResult(y, y_sum, y_sqsum)


@launched_by_alignment
def scale_bias_activation_backward_filter(
    handle: Handle,
    conv: ConvolutionDescriptor,
    *,
    x: Any,
    dy: Any,
    scale: Any = None,
    bias: Any = None,
    dw: Made | None = None,
    dw_shape: tuple[int, ...] | None = None,
    activation: ActivationDescriptor | str | None = None,
    workspace: Any = None,
) -> Made:
    """dw, the gradient of w where y = conv(act(x * scale + bias), w).

    Follows ``CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD``.

    Parameters
    ----------
    x, dy : tensor
        (N, C, H, W) and (N, K, output...); both float16, or both float32.
    dw : tensor, optional
        (K, C / groups, R, S), of the same type. Default: allocated, in the layout of x.
    dw_shape : tuple of int, optional
        Shape of w, needed if dw is not given.

    The other parameters, and the errors, are those of `scale_bias_activation_convolution`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 8, 4, 4), 1, "float16", layout="NHWC")
    >>> scale, bias = (DeviceTensor.full((8,), value, "float16") for value in (2, 1))
    >>> with Handle() as handle, ConvolutionDescriptor() as conv:
    ...     dw = scale_bias_activation_backward_filter(
    ...         handle, conv, x=x, dy=x, scale=scale, bias=bias, dw_shape=(8, 8, 1, 1)
    ...     )
    >>> dw.numpy()[0, 0].item()  # 16 pixels of 2 * 1 + 1
    48.0
    """
    tensors = {"x": x, "dy": dy, "scale": scale, "bias": bias, "dw": dw}
    with FusedCall(handle, raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD, **tensors) as call:
        x_desc = call.pack("x", call.describe("x"), "xdesc", "xdata")
        dy_desc = call.pack("dy", call.describe("dy"), "dydesc", "dydata")
        if dw is None:
            if dw_shape is None:
                raise ValueError("dw: pass dw_shape or dw itself")
            dw = call.make("dw", integers("dw_shape", dw_shape), x_desc.data_type)
        dw_desc = call.pack("dw", call.describe_filter("dw"), "dwdesc", "dwdata", written=True)
        call.constants["conv_desc"] = expect("conv", conv, ConvolutionDescriptor)
        _check_fit(conv, x=x_desc, dw=dw_desc, dy=dy_desc)
        call.input(x_desc.shape, activation)
        call.run(workspace)
    return dw


class ScaleBiasResult(NamedTuple):
    """Scale and bias for the next convolution, both (1, K, 1...)."""

    scale: Any
    bias: Any


class FinalizedStatisticsResult(NamedTuple):
    """Scale and bias for the next convolution, statistics for backward; all (1, K, 1...)."""

    scale: Any
    bias: Any
    saved_mean: Any
    saved_inv_variance: Any


@launched_by_alignment
def finalize_statistics_training(
    handle: Handle,
    y_sum: Any,
    y_sqsum: Any,
    count: int,
    bn_scale: Any,
    bn_bias: Any,
    running_mean: Any = None,
    running_variance: Any = None,
    *,
    scale: Any = None,
    bias: Any = None,
    saved_mean: Any = None,
    saved_inv_variance: Any = None,
    average_factor: float,
    epsilon: float = 1e-5,
    data_type: Any = "float16",
    workspace: Any = None,
) -> FinalizedStatisticsResult:
    """Scale and bias that normalize y, from its sums.

    Follows ``CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING``.

    Parameters
    ----------
    y_sum, y_sqsum : tensor
        float32 (1, K, 1...), as `scale_bias_activation_convolution` gives them.
    count : int
        How many values each sum has: N times the size of the output.
    bn_scale, bn_bias : tensor
        float32 (1, K, 1...), what is learned.
    running_mean, running_variance : tensor, optional
        float32 (1, K, 1...); they are updated in place.
    scale, bias : tensor, optional
        (K,) or (1, K, 1...). Default: allocated, of `data_type`.
    saved_mean, saved_inv_variance : tensor, optional
        float32 (1, K, 1...): the mean, and 1 / sqrt(variance + epsilon). Default: allocated.
    average_factor : float
        The weight of the new values in the running ones.
    epsilon : float
        Added to the variance.
    data_type : data type
        Of scale and bias if they are not given, that of the next convolution's input: float16,
        float32 or float64.

    The other parameters, and the errors, are those of `scale_bias_activation_convolution`.

    Examples
    --------
    >>> values = dict(y_sum=8, y_sqsum=20, bn_scale=1, bn_bias=0)  # of the 4 numbers 1, 3, 1, 3
    >>> tensors = {n: DeviceTensor.full((1, 32, 1, 1), v, "float32") for n, v in values.items()}
    >>> with Handle() as handle:
    ...     result = finalize_statistics_training(handle, count=4, average_factor=1, **tensors)
    >>> result.saved_mean.numpy()[0, 0].item()
    2.0
    >>> result.scale.numpy()[0, 0].item(), result.bias.numpy()[0, 0].item()  # y = x - 2
    (1.0, -2.0)
    """
    tensors = {"y_sum": y_sum, "y_sqsum": y_sqsum, "bn_scale": bn_scale, "bn_bias": bn_bias}
    tensors |= {"running_mean": running_mean, "running_variance": running_variance}
    tensors |= {"scale": scale, "bias": bias}
    tensors |= {"saved_mean": saved_mean, "saved_inv_variance": saved_inv_variance}
    with FusedCall(handle, raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING, **tensors) as call:
        shape = call.pack("y_sum", call.describe("y_sum"), "ystats_desc", "ysum").shape
        call.same("y_sqsum", shape, "ystats_desc", "ysqsum")
        call.parameters(shape)
        results = list(call.equivalent(shape, data_type))
        for name, label in (
            ("saved_mean", "bn_saved_mean"),
            ("saved_inv_variance", "bn_saved_invstd"),
        ):
            results.append(call.result(name, shape, "float32"))
            call.same(name, shape, "bn_scalebias_meanvar_desc", label, written=True)
        call.numbers |= {
            "scalar_int64_t_bn_accumulation_count": integer("count", count, least=1),
            "scalar_double_bn_exp_avg_factor": real("average_factor", average_factor),
            "scalar_double_bn_epsilon": _epsilon(epsilon),
        }
        call.run(workspace)
    return FinalizedStatisticsResult(*results)


@launched_by_alignment
def finalize_statistics_inference(
    handle: Handle,
    bn_scale: Any,
    bn_bias: Any,
    running_mean: Any,
    running_variance: Any,
    *,
    scale: Any = None,
    bias: Any = None,
    epsilon: float = 1e-5,
    data_type: Any = "float16",
    workspace: Any = None,
) -> ScaleBiasResult:
    """Scale and bias that normalize with running statistics.

    Follows ``CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE``.

    The parameters, and the errors, are those of `finalize_statistics_training`.

    Examples
    --------
    >>> values = dict(bn_scale=6, bn_bias=1, running_mean=2, running_variance=4)
    >>> tensors = {n: DeviceTensor.full((1, 32, 1, 1), v, "float32") for n, v in values.items()}
    >>> with Handle() as handle:
    ...     result = finalize_statistics_inference(handle, epsilon=0, **tensors)
    >>> result.scale.numpy()[0, 0].item(), result.bias.numpy()[0, 0].item()  # y = 3 * x - 5
    (3.0, -5.0)
    """
    tensors = {"bn_scale": bn_scale, "bn_bias": bn_bias, "scale": scale, "bias": bias}
    tensors |= {"running_mean": running_mean, "running_variance": running_variance}
    with FusedCall(handle, raw.CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE, **tensors) as call:
        shape = call.describe("bn_scale").shape
        call.parameters(shape)
        result = ScaleBiasResult(*call.equivalent(shape, data_type))
        call.numbers["scalar_double_bn_epsilon"] = _epsilon(epsilon)
        call.run(workspace)
    return result


def _epsilon(epsilon: float) -> float:
    epsilon = real("epsilon", epsilon)
    if not epsilon >= 0:
        raise ValueError(f"epsilon: expected 0 or more, got {epsilon}")
    return epsilon
