"""The descriptors of a normalization's parameters, which cuDNN derives from that of x."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from .. import raw
from ..arguments import enumerator, expect, flag
from ..raw import operand_rules
from ..raw.function import Function
from ..raw.operand_rules import refuse
from ..raw.operand_rules.normalizations import parameter
from ..raw.records import record
from .activation import FUSED, ActivationDescriptor
from .documentation import documented
from .operands import Operands, refuse_beta
from .tensor import TensorDescriptor


@documented
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


@documented
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
    NotSupportedError
        If `groups` is not 1.

    The errors are those of `derive_bn_tensor_descriptor`.

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


_IMAGES = ("x", "y", "z", "dy", "dx", "dz")
_NUMBERS = ("alpha", "beta", "alpha_param", "beta_param", "epsilon", "average_factor")


class _Operands(Operands):
    """The operands of one call.

    - `given`: the arguments of the operation by name: x, tensors like x, their descriptors,
      options.
    """

    def __init__(self, function: Callable[..., Any], given: Mapping[str, Any]) -> None:
        self._function, self._given = cast(Function, function), given
        kinds = {each.name: each.type.base for each in self._function.parameters}
        mode = enumerator(kinds["mode"], given["mode"], "mode")
        self._arguments: dict[str, Any] = {"mode": mode, "activation": None}
        self._arguments["groups"] = given.get("groups", 1)
        if "algo" in kinds:
            algorithm = enumerator(kinds["algo"], given["algorithm"], "algorithm")
            self._arguments["algorithm"] = algorithm
        images = {
            name: given.get(name) for name in _IMAGES if {name, f"{name}_desc"} & given.keys()
        }
        described = {name: (value, given.get(f"{name}_desc")) for name, value in images.items()}
        super().__init__(given["handle"], **described)
        self._arguments |= {name: None if images[name] is None else name for name in images}
        self._arguments |= {name: given[name] for name in _NUMBERS if name in given}

    # -- what the operation is -----------------------------------------------------------------

    def prepare(self, adds: bool = False) -> None:
        """Describe the parameters, and what follows the normalization."""
        self._describe_parameters()
        self._follow(self._given.get("activation"), adds)

    def _describe_parameters(self) -> None:
        """Derive the descriptors of parameters; those of the user must have the derived shapes."""
        x_desc, mode = self.describe("x"), self._arguments["mode"]
        names: tuple[str, ...] = ("scale_bias_desc", "mean_variance_desc")
        if isinstance(mode, raw.cudnnBatchNormMode_t):
            names, derived = ("param_desc",), [derive_bn_tensor_descriptor(x_desc, mode)]
        else:
            groups = self._arguments["groups"]
            derived = [*derive_norm_tensor_descriptor(x_desc, mode, groups=groups)]
        described = [self.enter_context(desc) for desc in derived]
        for i, name in enumerate(names):
            if (desc := self._given.get(name)) is not None:
                described[i], wanted = expect(name, desc, TensorDescriptor), described[i]
                held = record(desc)
                if held is None:
                    raise ValueError(f"{name}: this descriptor is not set")
                described_as = operand_rules.Operand(name, held)
                refuse(parameter(described_as, wanted.shape, wanted.data_type))
        self.params: TensorDescriptor = described[0]
        self.statistics: TensorDescriptor = described[-1]
        self._arguments |= {"params": self.params, "statistics": self.statistics}

    def _follow(self, activation: Any, adds: bool) -> None:
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

    def result(self, name: str, beta: float = 0) -> Any:
        """The result `name` as it was given, or a new tensor like x."""
        value = self._given[name]
        value = self.make_like(name, "x", beta=beta) if value is None else value
        self._arguments[name] = name
        return value

    def parameters(self, **values: Any) -> None:
        """Take parameters by their names."""
        for name, value in values.items():
            affine = name.removeprefix("d") in ("scale", "bias")
            self.add(name, value, self.params if affine else self.statistics)
            self._arguments[name] = name

    def given(self, *names: str) -> None:
        """Take parameters as they were given."""
        self.parameters(**{name: self._given[name] for name in names if name in self._given})

    def new_parameter(self, name: str, beta: float = 0) -> Any:
        """An uninitialised parameter, of the shape that the scale has."""
        refuse_beta(name, beta)
        like = self._given["scale"]
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

    # -- workspace and reserve space -----------------------------------------------------------

    def take_spaces(self, *, makes: bool) -> Any:
        """Take workspace and reserve space, if C has them; returns the reserve space.

        - `makes`: whether a reserve space that is not given is made.
        """
        told = {each.name: each.type.told_by for each in self._function.parameters}
        tells_size = told.get("reserveSpaceSizeInBytes")
        if not tells_size:
            return None
        needed = self.size(raw.FUNCTIONS[tells_size])
        space = self._given["reserve_space"]
        if space is None and needed and makes:
            space = self.new((needed,), "uint8")
        self._arguments["reserve_space"] = self.room("reserve_space", space, needed)
        size = self.size(raw.FUNCTIONS[told["workSpaceSizeInBytes"]])
        self._arguments["workspace"] = self.workspace(self._given["workspace"], size)
        return space

    def _values(self, function: Callable[..., Any], arguments: dict[str, Any]) -> list[Any]:
        for name in (each.name for each in cast(Function, function).parameters):
            ours = name.removesuffix("Desc")
            ours = _OURS.get(ours, ours)
            if ours in self._arguments:
                arguments.setdefault(name, self._arguments[ours])
        return super()._values(function, arguments)


def infer(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Carry out a function of inference with the arguments of its operation, by name."""
    with _Operands(function, given) as operands:
        operands.prepare(adds=given.get("z") is not None)
        y = operands.result("y", given["beta"])
        operands.given("scale", "bias", "estimated_mean", "estimated_variance")
        operands.launch(function)
    return y


def train(function: Callable[..., Any], given: Mapping[str, Any]) -> NormalizationResult:
    """Carry out a forward function of training with the arguments of its operation, by name."""
    with _Operands(function, given) as operands:
        operands.prepare(adds=given.get("z") is not None)
        y = operands.result("y", given["beta"])
        saved = {name: given[name] for name in ("saved_mean", "saved_inv_variance")}
        if flag("save", given["save"]) and not any(each is not None for each in saved.values()):
            saved = {name: operands.new_parameter(name) for name in saved}
        operands.given("scale", "bias")
        operands.pair(
            running_mean=given["running_mean"], running_variance=given["running_variance"]
        )
        operands.pair(**saved)
        reserve_space = operands.take_spaces(makes=True)
        operands.launch(function)
    return NormalizationResult(y, **saved, reserve_space=reserve_space)


def differentiate(function: Callable[..., Any], given: Mapping[str, Any]) -> NormalizationGradients:
    """Carry out a backward function with the arguments of its operation, by name."""
    dz = given.get("dz")
    adds = flag("with_dz", given.get("with_dz", False)) or dz is not None
    with _Operands(function, given) as operands:
        operands.prepare(adds)
        dx = operands.result("dx", given["beta"])
        dz = operands.result("dz") if adds else dz
        gradients = {
            name: operands.new_parameter(name, given["beta_param"])
            if given[name] is None
            else given[name]
            for name in ("dscale", "dbias")
        }
        operands.given("scale", "bias")
        operands.parameters(**gradients)
        operands.pair(
            saved_mean=given["saved_mean"], saved_inv_variance=given["saved_inv_variance"]
        )
        operands.take_spaces(makes=False)
        operands.launch(function)
    return NormalizationGradients(dx, **gradients, dz=dz)


def sizes(*functions: Callable[..., Any], given: Mapping[str, Any]) -> NormalizationSizes:
    """Bytes of both workspaces and the reserve space, by three functions, for tensors like x."""
    with _Operands(functions[0], given) as operands:
        adds = flag("adds", given["adds"])
        operands.prepare(adds)
        operands._arguments |= dict.fromkeys(("x", "y", "dy", "dx"), "x")
        operands._arguments |= dict.fromkeys(("z", "dz"), "x" if adds else None)
        return NormalizationSizes(*map(operands.size, functions))
