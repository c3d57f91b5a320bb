"""The normalizations, of any mode and by name: layer, instance, batch, RMS, adaptive layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....arguments import enumerator, flag
from ....raw import cudnnBackendNormFwdPhase_t, cudnnBackendNormMode_t
from ..node import Kind, Node, Result
from ..tensor import Tensor
from .base import axes_argument, listed, operation

Mode = cudnnBackendNormMode_t
Phase = cudnnBackendNormFwdPhase_t
_TRAINING = Phase.CUDNN_NORM_FWD_TRAINING
_STATISTICS = "y", "mean?", "inv_variance?"
OF_CHANNELS = (Mode.CUDNN_BATCH_NORM, Mode.CUDNN_INSTANCE_NORM)


def normalized_axes(node: Node) -> tuple[int, ...]:
    """The dimensions over which a norm takes its mean and variance.

    Those of the mode, or the option `axes`, or those in which scale or bias vary, or those in which
    given statistics do not; without any of them all but the first.
    """
    x, mode = node.inputs["input"], node.options["mode"]
    if mode in OF_CHANNELS:
        if node.options.get("axes") is not None:
            node.refuse("its mode says which dimensions are normalized: leave axes out")
        return ((0,) if mode == Mode.CUDNN_BATCH_NORM else ()) + tuple(range(2, x.rank))
    first = 1 if mode == Mode.CUDNN_ADA_LAYER_NORM else 0
    axes = node.axes(x)
    if axes == ():
        node.refuse(f"axes () are none of the {x.rank} dimensions of {x.name!r}")
    varying = [
        tuple(axis for axis in range(first, x.rank) if node.inputs[port].dims[axis] != 1)
        for port in ("scale", "bias")
        if port in node.inputs
    ]
    if varying:
        if axes is not None and {a for a in axes if x.dims[a] > 1} != set(varying[0]):
            parameter = node.inputs["scale" if "scale" in node.inputs else "bias"]
            node.refuse(
                f"axes {axes} of input {x.name!r} {x.dims} are normalized, but {parameter.name!r} "
                f"{parameter.dims} varies along {varying[0]}: give it 1 elsewhere and the input's "
                "sizes there, or multiply and add it behind the norm"
            )
        return axes or varying[0]
    if axes is not None:
        return axes
    statistics = node.inputs.get("inv_variance", node.inputs.get("mean"))
    if statistics is not None and statistics.rank == x.rank:
        return tuple(axis for axis, size in enumerate(statistics.dims) if size == 1)
    if x.rank > 2:
        node.refuse(
            f"nothing says which dimensions of input {x.name!r} {x.dims} are normalized: give axes "
            f"({x.rank - 1},) for the last, {tuple(range(1, x.rank))} for all but the first"
        )
    return (1,)


def _statistics_dims(node: Node, x: Tensor) -> tuple[int, ...]:
    """The dims of mean and inv_variance: 1 where the normalization takes its sums."""
    axes = normalized_axes(node)
    return tuple(1 if axis in axes else size for axis, size in enumerate(x.dims or ()))


def _check_parameters(node: Node, x: Tensor) -> None:
    if x.rank < 2:
        node.refuse(f"input {x.name!r} {x.dims} needs at least two dimensions")
    for port in ("scale", "bias"):
        tensor = node.inputs.get(port)
        if tensor is None:
            continue
        fits = tensor.rank == x.rank and all(
            size in (1, full) for size, full in zip(tensor.dims, x.dims or (), strict=True)
        )
        if not fits:
            node.refuse(
                f"{port} {tensor.name!r} {tensor.dims} does not fit input {x.name!r} {x.dims}: it "
                "needs as many dimensions, each of the input's size or 1"
            )
    scale, bias = node.inputs.get("scale"), node.inputs.get("bias")
    if scale is not None and bias is not None and scale.dims != bias.dims:
        node.refuse(f"scale {scale.name!r} {scale.dims} and bias {bias.name!r} {bias.dims} differ")
    if scale is not None and node.options["mode"] in OF_CHANNELS:
        channels = (1, *(x.dims or ())[1:2], *(1,) * (x.rank - 2))
        if scale.dims != channels:
            node.refuse(
                f"scale {scale.name!r} is {scale.dims}; it needs one number for each channel of "
                f"{x.name!r} {x.dims}: {channels}"
            )
    expected = _statistics_dims(node, x)
    for port in ("mean", "inv_variance"):
        node.want_dims(port, expected, f"those of input {x.name!r} {x.dims} are")


def _infer_forward(node: Node) -> Mapping[str, Result]:
    x = node.inputs["input"]
    _check_parameters(node, x)
    statistics = Result(_statistics_dims(node, x), x, "compute")
    running = Result(statistics.dims, x, "compute")
    return {
        port: Result(x.dims, x) if port == "y" else running if "running" in port else statistics
        for port in node.outputs
    }


def _infer_backward(node: Node) -> Mapping[str, Result]:
    x, scale = node.inputs["input"], node.inputs.get("scale")
    _check_parameters(node, x)
    node.want_dims("grad", x.dims, f"input {x.name!r} is")
    parameters = Result(None if scale is None else scale.dims, scale, "compute")
    return {port: Result(x.dims, x) if port == "dx" else parameters for port in node.outputs}


NORM_FORWARD = Kind.of(
    "operation_norm_forward",
    "input=xdesc mean? inv_variance? scale? bias? epsilon? momentum?=exp_avg_factor_desc "
    "in_running_mean?=input_running_mean_desc in_running_var?=input_running_var_desc "
    "peer_stats?=peer_stat_descs",
    "y=ydesc mean inv_variance next_running_mean=output_running_mean_desc "
    "next_running_var=output_running_var_desc",
    _infer_forward,
    options="mode phase",
    own_options={"axes": tuple[int, ...]},
    required="mode phase",
    by_default="mean inv_variance",
)
NORM_BACKWARD = Kind.of(
    "operation_norm_backward",
    "grad=dydesc input=xdesc scale? mean? inv_variance? epsilon? peer_stats?=peer_stat_descs",
    "dx=dxdesc dscale dbias",
    _infer_backward,
    options="mode",
    own_options={"axes": tuple[int, ...]},
    required="mode",
)


def _norm_mode(operation: str, value: Mode | str) -> Mode:
    if isinstance(value, str) and not value.lower().endswith("_norm"):
        value += "_norm"
    return enumerator(Mode, value, f"{operation}: mode")


def _forward(
    operation: str,
    mode: Mode | str,
    phase: Phase | str,
    epsilon: Any,
    *,
    axes: Any = None,
    statistics: bool = False,
    running: tuple[Any, Any, Any] = (None, None, None),
) -> dict[str, Any]:
    """Mode, phase, axes and results of a forward normalization.

    `statistics`: whether some were given. `running`: the means, the variances and the momentum.
    """
    code, when = _norm_mode(operation, mode), enumerator(Phase, phase, f"{operation}: phase")
    means, variances, momentum = running
    if when == _TRAINING:
        if statistics:
            raise TypeError(f"{operation}: mean and inv_variance are results in training")
        if epsilon is None:
            raise TypeError(f"{operation}: epsilon is missing")
    if (means is None) != (variances is None):
        raise TypeError(f"{operation}: in_running_mean and in_running_var go together")
    if means is not None and momentum is None:
        raise TypeError(f"{operation}: running statistics need a momentum")
    wanted = ["y"]
    if when == _TRAINING:
        wanted += ["inv_variance"] if code == Mode.CUDNN_RMS_NORM else ["mean", "inv_variance"]
    if means is not None:
        wanted += ["next_running_mean", "next_running_var"]
    return {"mode": code, "phase": when, "axes": axes_argument(operation, axes), "outputs": wanted}


@operation(NORM_FORWARD, returns=None)
def norm_forward(
    mode: cudnnBackendNormMode_t | str,
    phase: cudnnBackendNormFwdPhase_t | str,
    input: Tensor,
    scale: Tensor | None = None,
    bias: Tensor | None = None,
    epsilon: Tensor | float | None = None,
    *,
    axes: Sequence[int] | int | None = None,
    mean: Tensor | None = None,
    inv_variance: Tensor | None = None,
    momentum: Tensor | float | None = None,
    in_running_mean: Tensor | None = None,
    in_running_var: Tensor | None = None,
    peer_stats: Sequence[Tensor] = (),
) -> Mapping[str, Any]:
    """y = (input - mean) * inv_variance * scale + bias, of any mode and phase.

    ``CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR``.

    Parameters
    ----------
    mode : cudnnBackendNormMode_t or str
        "layer", "instance", "batch", "rms", "ada_layer".
    phase : cudnnBackendNormFwdPhase_t or str
        "training" gives mean and inv_variance too, which are outputs if nothing reads them.
    input : Tensor
        ``(n, c, *spatial)``.
    scale, bias : Tensor, optional
        For "layer", "rms" and "ada_layer", their sizes other than 1 say which dimensions are
        normalized: ``(1, c, *spatial)`` or (1, 1, d) for "layer" and "rms", (n, 1, d) for
        "ada_layer". For "batch" and "instance" they are (1, c, 1, …).
    epsilon : Tensor or float
        Added to the variance; needed in training.
    axes : int or sequence of int, optional
        The dimensions that "layer" and "rms" normalize, for norms without scale and bias. Not
        needed where `input` has two.
    mean, inv_variance : Tensor, optional
        Those to use, in the phase "inference" of "batch" and "instance".
    momentum, in_running_mean, in_running_var : optional
        All or none, for "batch" in training: next = (1 - momentum) * in + momentum * new.
    peer_stats : sequence of Tensor
        Memory that the GPUs share that train on parts of one batch.

    Returns
    -------
    dict
        "y"; in training "mean" (but for "rms") and "inv_variance"; with running statistics
        "next_running_mean" and "next_running_var". y is like `input`; the others are of the
        compute data type, with 1 where the normalization takes its sums.

    Raises
    ------
    TypeError
        For operands that the phase lacks, or that do not belong to it.
    """
    given = mean is not None or inv_variance is not None
    running = in_running_mean, in_running_var, momentum
    settings = _forward(
        "norm_forward", mode, phase, epsilon, axes=axes, statistics=given, running=running
    )
    return {**settings, "peer_stats": listed("norm_forward: peer_stats", peer_stats) or None}


@operation(NORM_BACKWARD, returns=None)
def norm_backward(
    mode: cudnnBackendNormMode_t | str,
    grad: Tensor,
    input: Tensor,
    scale: Tensor | None = None,
    mean: Tensor | None = None,
    inv_variance: Tensor | None = None,
    *,
    axes: Sequence[int] | int | None = None,
    epsilon: Tensor | float | None = None,
    peer_stats: Sequence[Tensor] = (),
    has_dbias: bool = True,
) -> Mapping[str, Any]:
    """The gradients of `norm_forward`; ``CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR``.

    Parameters
    ----------
    mode : cudnnBackendNormMode_t or str
        "layer", "instance", "batch", "rms", "ada_layer".
    grad, input : Tensor
        The gradient with respect to y, and what was normalized; both ``(n, c, *spatial)``.
    scale : Tensor, optional
        As `norm_forward` had it.
    mean, inv_variance : Tensor, optional
        Results of `norm_forward` in training; "rms" has no mean.
    axes : int or sequence of int, optional
        As `norm_forward` had them; without, and without scale, statistics say it by their 1.
    has_dbias : bool
        Whether there was a bias.

    Returns
    -------
    dict
        "dx", like `input`; with `scale` "dscale" and "dbias", like it, of the compute data
        type.
    """
    return _backward("norm_backward", mode, scale, has_dbias, peer_stats, axes)


def _backward(
    operation: str,
    mode: Mode | str,
    scale: Tensor | None,
    has_dbias: bool = True,
    peer_stats: Sequence[Tensor] = (),
    axes: Any = None,
) -> dict[str, Any]:
    """Mode, axes and results of a normalization's gradients."""
    wanted = ["dx"]
    if scale is not None:
        both = flag(f"{operation}: has_dbias", has_dbias)
        wanted += ["dscale", "dbias"] if both else ["dscale"]
    return {
        "mode": _norm_mode(operation, mode),
        "peer_stats": listed(f"{operation}: peer_stats", peer_stats) or None,
        "axes": axes_argument(operation, axes),
        "outputs": wanted,
    }


@operation(NORM_FORWARD, returns=_STATISTICS)
def layernorm(
    norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
    input: Tensor,
    scale: Tensor | None,
    bias: Tensor | None,
    epsilon: Tensor | float,
    *,
    axes: Sequence[int] | int | None = None,
) -> Mapping[str, Any]:
    """Layer normalization (Ba et al., 2016), as `norm_forward` does it.

    Parameters
    ----------
    norm_forward_phase : "training" or "inference"
        In training what the backward pass needs is a result, too.
    input : Tensor
        ``(n, c, *spatial)``, or (n, tokens, d).
    scale, bias : Tensor, optional
        Their sizes other than 1 say which dimensions are normalized.
    epsilon : Tensor or float
        Added to the variance.
    axes : int or sequence of int, optional
        The dimensions that are normalized, where scale and bias are missing: -1, say.

    Returns
    -------
    y, mean, inv_variance : Tensor
        The last two are None in inference.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((4, 128, 1024))
    >>> scale, bias = (graph.tensor((1, 1, 1024), data_type="float32") for _ in range(2))
    >>> y, mean, inv_variance = graph.layernorm("training", x, scale, bias, 1e-5)
    >>> _ = y.set_output(), mean.set_output(), inv_variance.set_output(), graph.validate()
    >>> y.dims, mean.dims
    ((4, 128, 1024), (4, 128, 1))
    """
    return _forward("layernorm", "layer", norm_forward_phase, epsilon, axes=axes)


@operation(NORM_FORWARD, returns=_STATISTICS)
def adalayernorm(
    norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
    input: Tensor,
    scale: Tensor,
    bias: Tensor | None,
    epsilon: Tensor | float,
) -> Mapping[str, Any]:
    """`layernorm` with a scale and bias for each batch: (n, 1, …, d).

    The other parameters, and the result, are those of `layernorm`.
    """
    return _forward("adalayernorm", "ada_layer", norm_forward_phase, epsilon)


@operation(NORM_FORWARD, returns=_STATISTICS)
def instancenorm(
    norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
    input: Tensor,
    scale: Tensor,
    bias: Tensor,
    epsilon: Tensor | float,
    *,
    mean: Tensor | None = None,
    inv_variance: Tensor | None = None,
) -> Mapping[str, Any]:
    """Normalization of each channel of each image (Ulyanov et al., 2016).

    The other parameters, and the result, are those of `layernorm`.

    Parameters
    ----------
    scale, bias : Tensor
        (1, c, 1, …).
    mean, inv_variance : Tensor, optional
        (n, c, 1, …): those to use, in inference.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 28, 28), layout="nhwc")
    >>> scale, bias = (graph.tensor((1, 64, 1, 1), data_type="float32") for _ in range(2))
    >>> y, mean, inv_variance = graph.instancenorm("training", x, scale, bias, 1e-5)
    >>> _ = y.set_output(), mean.set_output(), inv_variance.set_output(), graph.validate()
    >>> y.dims, mean.dims
    ((8, 64, 28, 28), (8, 64, 1, 1))
    """
    given = mean is not None or inv_variance is not None
    return _forward("instancenorm", "instance", norm_forward_phase, epsilon, statistics=given)


@operation(NORM_FORWARD, returns=("y", "inv_variance?"))
def rmsnorm(
    norm_forward_phase: cudnnBackendNormFwdPhase_t | str,
    input: Tensor,
    scale: Tensor | None,
    bias: Tensor | None,
    epsilon: Tensor | float,
    *,
    axes: Sequence[int] | int | None = None,
) -> Mapping[str, Any]:
    """y = input / sqrt(mean(input**2) + epsilon) * scale + bias (Zhang and Sennrich, 2019).

    Parameters are those of `layernorm`.

    Returns
    -------
    y, inv_variance : Tensor
        The last is 1 / sqrt(…), None in inference.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x, scale = graph.tensor((4, 128, 1024)), graph.tensor((1, 1, 1024), data_type="float32")
    >>> y, inv_variance = graph.rmsnorm("inference", x, scale, None, 1e-5)
    >>> _ = y.set_output(), graph.validate()
    >>> y.dims, inv_variance
    ((4, 128, 1024), None)
    """
    return _forward("rmsnorm", "rms", norm_forward_phase, epsilon, axes=axes)


@operation(
    NORM_FORWARD, returns=("y", "mean", "inv_variance", "next_running_mean?", "next_running_var?")
)
def batchnorm(
    input: Tensor,
    scale: Tensor,
    bias: Tensor,
    in_running_mean: Tensor | None = None,
    in_running_var: Tensor | None = None,
    epsilon: Tensor | float = 1e-5,
    momentum: Tensor | float | None = None,
    *,
    peer_stats: Sequence[Tensor] = (),
) -> Mapping[str, Any]:
    """Batch normalization in training (Ioffe and Szegedy, 2015), as `norm_forward` does it.

    With fixed statistics there is `batchnorm_inference`.

    Parameters
    ----------
    input : Tensor
        ``(n, c, *spatial)``.
    scale, bias, in_running_mean, in_running_var : Tensor
        (1, c, 1, …).
    epsilon : Tensor or float
        Added to the variance.
    momentum : Tensor or float, optional
        Weight of this batch in the running statistics.
    peer_stats : sequence of Tensor
        As for `norm_forward`.

    Returns
    -------
    y, mean, inv_variance, next_running_mean, next_running_var : Tensor
        All but y (1, c, 1, …); the last two are None without running statistics.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 28, 28), layout="nhwc")
    >>> scale, bias = (graph.tensor((1, 64, 1, 1), data_type="float32") for _ in range(2))
    >>> y, mean, inv_variance, _, _ = graph.batchnorm(x, scale, bias)
    >>> _ = y.set_output(), mean.set_output(), inv_variance.set_output(), graph.validate()
    >>> y.dims, mean.dims
    ((8, 64, 28, 28), (1, 64, 1, 1))
    """
    running = in_running_mean, in_running_var, momentum
    settings = _forward("batchnorm", "batch", "training", epsilon, running=running)
    return {**settings, "peer_stats": listed("batchnorm: peer_stats", peer_stats) or None}


_GRADIENTS = "dx", "dscale?", "dbias?"


@operation(NORM_BACKWARD, returns=_GRADIENTS)
def layernorm_backward(
    grad: Tensor,
    input: Tensor,
    scale: Tensor | None,
    mean: Tensor,
    inv_variance: Tensor,
    *,
    axes: Sequence[int] | int | None = None,
) -> Mapping[str, Any]:
    """The gradients of `layernorm`, as `norm_backward` has them.

    Returns
    -------
    dx, dscale, dbias : Tensor
        The last two are None without `scale`.
    """
    return _backward("layernorm_backward", "layer", scale, axes=axes)


@operation(NORM_BACKWARD, returns=_GRADIENTS)
def adalayernorm_backward(
    grad: Tensor, input: Tensor, scale: Tensor, mean: Tensor, inv_variance: Tensor
) -> Mapping[str, Any]:
    """The gradients of `adalayernorm`.

    The parameters, and the result, are those of `layernorm_backward`.
    """
    return _backward("adalayernorm_backward", "ada_layer", scale)


@operation(NORM_BACKWARD, returns=_GRADIENTS)
def instancenorm_backward(
    grad: Tensor,
    input: Tensor,
    scale: Tensor,
    mean: Tensor | None = None,
    inv_variance: Tensor | None = None,
) -> Mapping[str, Any]:
    """The gradients of `instancenorm`.

    The parameters, and the result, are those of `layernorm_backward`.
    """
    return _backward("instancenorm_backward", "instance", scale)


@operation(NORM_BACKWARD, returns=_GRADIENTS)
def batchnorm_backward(
    grad: Tensor,
    input: Tensor,
    scale: Tensor,
    mean: Tensor,
    inv_variance: Tensor,
    peer_stats: Sequence[Tensor] = (),
) -> Mapping[str, Any]:
    """The gradients of `batchnorm`, or of `batchnorm_inference`.

    The parameters, and the result, are those of `layernorm_backward`.
    """
    return _backward("batchnorm_backward", "batch", scale, peer_stats=peer_stats)


@operation(NORM_BACKWARD, returns=_GRADIENTS)
def rmsnorm_backward(
    grad: Tensor,
    input: Tensor,
    scale: Tensor | None,
    inv_variance: Tensor,
    has_dbias: bool = False,
    *,
    axes: Sequence[int] | int | None = None,
) -> Mapping[str, Any]:
    """The gradients of `rmsnorm`, with dbias where `has_dbias`.

    The parameters, and the result, are those of `layernorm_backward`.
    """
    return _backward("rmsnorm_backward", "rms", scale, has_dbias, axes=axes)
