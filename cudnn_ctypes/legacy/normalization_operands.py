"""The descriptors of a normalization's parameters, which cuDNN derives from that of x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from .. import raw
from ..arguments import enumerator, expect, flag
from ..handle import Handle
from ..raw import operand_rules
from ..raw.function import Function
from ..raw.operand_rules import refuse
from ..raw.operand_rules.normalizations import parameter
from ..raw.records import record
from .activation import FUSED, ActivationDescriptor
from .operand_memory import refuse_beta
from .operands import Operands
from .tensor import TensorDescriptor

__all__ = [
    "NormalizationGradients",
    "NormalizationOperands",
    "NormalizationResult",
    "NormalizationSizes",
    "derive_bn_tensor_descriptor",
    "derive_norm_tensor_descriptor",
]


def derive_bn_tensor_descriptor(
    x_desc: TensorDescriptor, mode: Any = "spatial"
) -> TensorDescriptor:
    """The descriptor of scale, bias, mean and variance; ``cudnnDeriveBNTensorDescriptor``.

    Parameters
    ----------
    x_desc : TensorDescriptor
    mode : cudnnBatchNormMode_t or str
        "per_activation", "spatial" or "spatial_persistent".

    Raises
    ------
    TypeError
        If `x_desc` is no `TensorDescriptor`.
    ValueError
        For an unknown mode.
    BadParamError
        If `x_desc` was never set.

    Examples
    --------
    >>> derive_bn_tensor_descriptor(TensorDescriptor((8, 3, 4, 4), "float16")).shape
    (1, 3, 1, 1)
    """
    expect("x_desc", x_desc, TensorDescriptor)
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    descriptor = TensorDescriptor()
    with descriptor._closed_on_error():
        raw.cudnnDeriveBNTensorDescriptor(descriptor, x_desc, mode)
    return descriptor


def derive_norm_tensor_descriptor(
    x_desc: TensorDescriptor, mode: Any = "per_channel", *, groups: int = 1
) -> tuple[TensorDescriptor, TensorDescriptor]:
    """The descriptors of scale and bias, and of mean and variance.

    Follows ``cudnnDeriveNormTensorDescriptor``.

    Parameters
    ----------
    x_desc : TensorDescriptor
    mode : cudnnNormMode_t or str
        "per_activation" or "per_channel".
    groups : int
        1; cuDNN has the argument for the future.

    Returns
    -------
    scale_bias, mean_variance : TensorDescriptor

    Raises
    ------
    TypeError
        If `x_desc` is no `TensorDescriptor`.
    ValueError
        For an unknown mode.
    BadParamError
        If `x_desc` was never set.
    NotSupportedError
        If `groups` is not 1.

    Examples
    --------
    >>> scale_bias, mean_variance = derive_norm_tensor_descriptor(TensorDescriptor((8, 3, 4, 4)))
    >>> scale_bias.shape
    (1, 3, 1, 1)
    """
    expect("x_desc", x_desc, TensorDescriptor)
    mode = enumerator(raw.cudnnNormMode_t, mode, "mode")
    params = TensorDescriptor()
    with params._closed_on_error():
        statistics = TensorDescriptor()
        with statistics._closed_on_error():
            raw.cudnnDeriveNormTensorDescriptor(params, statistics, x_desc, mode, groups)
    return params, statistics


Pair = tuple[Any, Any]

_C_NAMES = {
    **{name: (name, f"{name}Data") for name in ("x", "y", "z", "dx", "dy", "dz")},
    "scale": ("bnScale", "bnScaleData", "normScale", "normScaleData"),
    "bias": ("bnBias", "bnBiasData", "normBias", "normBiasData"),
    "dscale": ("dBnScaleResult", "dBnScaleData", "dNormScaleData"),
    "dbias": ("dBnBiasResult", "dBnBiasData", "dNormBiasData"),
    "estimated_mean": ("estimatedMean",),
    "estimated_variance": ("estimatedVariance",),
    "running_mean": ("resultRunningMean",),
    "running_variance": ("resultRunningVariance",),
    "saved_mean": ("resultSaveMean", "savedMean"),
    "saved_inv_variance": ("resultSaveInvVariance", "savedInvVariance"),
    "params": ("bnScaleBiasMeanVar", "dBnScaleBias", "normScaleBias", "dNormScaleBias"),
    "statistics": ("normMeanVar",),
    "alpha": ("alphaDataDiff",),
    "beta": ("betaDataDiff",),
    "alpha_param": ("alphaParamDiff",),
    "beta_param": ("betaParamDiff",),
    "average_factor": ("exponentialAverageFactor",),
    "operation": ("bnOps", "normOps"),
    "algorithm": ("algo",),
    "groups": ("groupCnt",),
    "workspace": ("workSpace",),
    "reserve_space": ("reserveSpace",),
}
"""C's names of parameters, without "Desc", by the names that they have here."""

_OURS = {theirs: ours for ours, names in _C_NAMES.items() for theirs in names}


class NormalizationResult(NamedTuple):
    """Result of the forward pass of training.

    For an example see `normalization_forward_training`.

    Attributes
    ----------
    y : DeviceTensor, or y as it was given
    saved_mean, saved_inv_variance : DeviceTensor, or as they were given, or None
        For the backward pass: the batch's mean and 1 / sqrt(variance + epsilon).
    reserve_space : DeviceTensor of bytes, or as it was given, or None
        For the backward pass, if that needs one.
    """

    y: Any
    saved_mean: Any
    saved_inv_variance: Any
    reserve_space: Any


class NormalizationGradients(NamedTuple):
    """Gradients from the backward pass.

    For an example see `batch_normalization_backward`.

    Attributes
    ----------
    dx, dscale, dbias : DeviceTensor, or as they were given
    dz : DeviceTensor, or dz as it was given, or None
        The gradient of z, which was added.
    """

    dx: Any
    dscale: Any
    dbias: Any
    dz: Any


class NormalizationSizes(NamedTuple):
    """Bytes of workspace, forward and backward, and of reserve space.

    For an example see `normalization_sizes`.
    """

    forward_workspace: int
    backward_workspace: int
    reserve_space: int


class SizeFunctions(NamedTuple):
    """The C functions that tell the sizes of workspaces and of the reserve space."""

    forward_workspace: Callable[..., Any]
    backward_workspace: Callable[..., Any]
    reserve_space: Callable[..., Any]


class NormalizationOperands(Operands):
    """The operands of one call.

    Parameters
    ----------
    handle : Handle
    mode : cudnnBatchNormMode_t or cudnnNormMode_t
        It says which generation of functions is called.
    algorithm, groups
        Of the later generation.
    sizes : SizeFunctions, optional
        Left out where C takes neither workspace nor reserve space.
    **operands : (object, descriptor or None)
        x, and what has its shape and type: y, z, dy, dx, dz.
    """

    def __init__(
        self,
        handle: Handle,
        mode: raw.cudnnBatchNormMode_t | raw.cudnnNormMode_t,
        *,
        algorithm: raw.cudnnNormAlgo_t | None = None,
        groups: int = 1,
        sizes: SizeFunctions | None = None,
        **operands: tuple[Any, TensorDescriptor | None],
    ) -> None:
        super().__init__(handle, **operands)
        self._arguments: dict[str, Any] = {"mode": mode, "algorithm": algorithm, "groups": groups}
        self._arguments["activation"], self._arguments["operation"] = None, 0
        for name, (value, _) in operands.items():
            self._arguments[name] = None if value is None else name
        self._sizes = sizes

    # -- what the operation is -----------------------------------------------------------------

    def describe_parameters(self, **descriptors: TensorDescriptor | None) -> None:
        """Derive the descriptors of parameters; those of the user must have the derived shapes."""
        x_desc, mode = self.describe("x"), self._arguments["mode"]
        if isinstance(mode, raw.cudnnBatchNormMode_t):
            derived = [derive_bn_tensor_descriptor(x_desc, mode)]
        else:
            groups = self._arguments["groups"]
            derived = [*derive_norm_tensor_descriptor(x_desc, mode, groups=groups)]
        described = [self.enter_context(desc) for desc in derived]
        for i, (name, desc) in enumerate(descriptors.items()):
            if desc is not None:
                described[i], wanted = expect(name, desc, TensorDescriptor), described[i]
                held = record(desc)
                if held is None:
                    raise ValueError(f"{name}: this descriptor is not set")
                described_as = operand_rules.Operand(name, held)
                refuse(parameter(described_as, wanted.shape, wanted.data_type))
        self.params: TensorDescriptor = described[0]
        self.statistics: TensorDescriptor = described[-1]
        self._arguments |= {"params": self.params, "statistics": self.statistics}

    def follow(self, activation: Any, adds: bool) -> None:
        """Say what follows the normalization: nothing, an activation, or an addition and one."""
        operations: Any = raw.cudnnNormOps_t
        if isinstance(self._arguments["mode"], raw.cudnnBatchNormMode_t):
            operations = raw.cudnnBatchNormOps_t
        if activation is None:
            if adds:
                raise ValueError(
                    "activation: needed where a tensor is added: cuDNN adds only before one"
                )
            self._arguments["operation"] = operations(0)
            return
        desc = self.descriptor("activation", activation, ActivationDescriptor, **FUSED)
        self._arguments |= {"activation": desc, "operation": operations(2 if adds else 1)}

    # -- operands ------------------------------------------------------------------------------

    def result(self, name: str, value: Any, beta: float = 0) -> Any:
        """`value`, or if it is None a new tensor like x."""
        value = self.make_like(name, "x", beta=beta) if value is None else value
        self._arguments[name] = name
        return value

    def parameters(self, **values: Any) -> None:
        """Take parameters by their names."""
        for name, value in values.items():
            affine = name.removeprefix("d") in ("scale", "bias")
            self.add(name, value, self.params if affine else self.statistics)
            self._arguments[name] = name

    def new_parameter(self, name: str, like: Any, beta: float = 0) -> Any:
        """An uninitialised parameter, of the shape that `like` has."""
        refuse_beta(name, beta)
        return self.new(tuple(getattr(like, "shape", self.params.shape)), self.params.data_type)

    def pair(self, **values: Any) -> None:
        """Take two parameters that are given both or neither."""
        missing = [name for name, value in values.items() if value is None]
        if not missing:
            self.parameters(**values)
        elif len(missing) == 1:
            (other,) = values.keys() - missing
            raise ValueError(f"{missing[0]}: needed together with {other}")
        else:
            self._arguments |= values

    # -- C -------------------------------------------------------------------------------------

    def train(
        self,
        function: Callable[..., Any],
        y: Any,
        parameters: dict[str, Any],
        running: Pair,
        saved: Pair,
        *,
        save: bool,
        workspace: Any = None,
        reserve_space: Any = None,
        **numbers: float,
    ) -> NormalizationResult:
        """The forward pass of training."""
        y = self.result("y", y, numbers["beta"])
        if flag("save", save) and all(each is None for each in saved):
            names, scale = ("saved_mean", "saved_inv_variance"), parameters["scale"]
            saved = tuple(self.new_parameter(name, scale) for name in names)
        self.parameters(**parameters)
        self.pair(running_mean=running[0], running_variance=running[1])
        self.pair(saved_mean=saved[0], saved_inv_variance=saved[1])
        if self._sizes is not None:
            needed = self.size(self._sizes.reserve_space)
            if reserve_space is None and needed:
                reserve_space = self.new((needed,), "uint8")
            self._take(workspace, self._sizes.forward_workspace, reserve_space, needed)
        self.normalize(function, **numbers)
        return NormalizationResult(y, *saved, reserve_space)

    def differentiate(
        self,
        function: Callable[..., Any],
        parameters: dict[str, Any],
        saved: Pair,
        gradients: NormalizationGradients,
        *,
        adds: bool = False,
        workspace: Any = None,
        reserve_space: Any = None,
        **numbers: float,
    ) -> NormalizationGradients:
        """The backward pass."""
        dx, dscale, dbias, dz = gradients
        dx = self.result("dx", dx, numbers["beta"])
        if adds:
            dz = self.result("dz", dz)
        scale, beta = parameters["scale"], numbers["beta_param"]
        dscale = self.new_parameter("dscale", scale, beta) if dscale is None else dscale
        dbias = self.new_parameter("dbias", scale, beta) if dbias is None else dbias
        self.parameters(**parameters, dscale=dscale, dbias=dbias)
        self.pair(saved_mean=saved[0], saved_inv_variance=saved[1])
        if self._sizes is not None:
            needed = self.size(self._sizes.reserve_space)
            self._take(workspace, self._sizes.backward_workspace, reserve_space, needed)
        self.normalize(function, **numbers)
        return NormalizationGradients(dx, dscale, dbias, dz)

    def _take(
        self, workspace: Any, tells_size: Callable[..., Any], reserve_space: Any, needed: int
    ) -> None:
        self._arguments["reserve_space"] = self.room("reserve_space", reserve_space, needed)
        self._arguments["workspace"] = self.workspace(workspace, self.size(tells_size))

    def normalize(self, function: Callable[..., Any], **numbers: float) -> None:
        """Launch a function with what was taken before and these numbers."""
        self._arguments |= numbers
        self.launch(function)

    def sizes(self, adds: bool) -> NormalizationSizes:
        """Sizes from the size functions for a call whose tensors are all like x."""
        self._arguments |= dict.fromkeys(("x", "y", "dy", "dx"), "x")
        self._arguments |= dict.fromkeys(("z", "dz"), "x" if adds else None)
        assert self._sizes is not None
        return NormalizationSizes(*(self.size(function) for function in self._sizes))

    def _values(self, function: Callable[..., Any], arguments: dict[str, Any]) -> list[Any]:
        for name in (each.name for each in cast(Function, function).parameters):
            ours = name.removesuffix("Desc")
            ours = _OURS.get(ours, ours)
            if ours in self._arguments:
                arguments.setdefault(name, self._arguments[ours])
        return super()._values(function, arguments)
