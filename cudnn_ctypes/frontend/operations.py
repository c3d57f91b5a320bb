"""The operations of a `pygraph` but for attention and normalizations.

`out_dims` are the dims of the result, as ``set_dim`` takes them; a mapping by the names of results
where there are several.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ..arguments import integers
from ..graph.describe.operations.pointwise import POINTWISE_METHODS
from ..raw.strides import axis_order, packed
from .c_members import c_member
from .described import Described, method
from .enums import (
    convolution_mode,
    data_type,
    moe_grouped_matmul_mode,
    named,
    norm_forward_phase,
    reduction_mode,
    reshape_mode,
)
from .errors import not_supported
from .tensors import tensor

Sizes = Sequence[int]
_NOT_SET = data_type.NOT_SET
_CROSS_CORRELATION = convolution_mode.CROSS_CORRELATION
_reshape_mode = reshape_mode

# Element-wise methods that NVIDIA's front end lacks, and options that its methods take.
_LAYER_3_ALONE = {"atan2", "floor_mod"}
_WITH_OPTIONS = {"gen_index", "leaky_relu", "leaky_relu_backward", "relu", "relu_backward"}
_WITH_OPTIONS |= {"swish", "swish_backward"}


def _pointwise(name: str) -> None:
    """Make the method of layer 3's element-wise operation of this name."""
    layer_3 = POINTWISE_METHODS[name]
    place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    taken = []
    for each in list(inspect.signature(layer_3).parameters.values())[1:-2]:
        if each.kind is place:
            kind = "tensor | float" if "Tensor" in str(each.annotation) else each.annotation
            taken.append(each.replace(annotation=kind))
        elif name in _WITH_OPTIONS:
            taken.append(each.replace(kind=place))
    last = [
        inspect.Parameter("compute_data_type", place, default=_NOT_SET, annotation="Any"),
        inspect.Parameter("name", place, default="", annotation="str"),
    ]
    if name == "swish_backward":  # its option comes between the two
        last.insert(1, taken.pop())

    def described(**arguments: Any) -> None:
        """Take the arguments as they are."""

    described.__name__, described.__doc__ = name, layer_3.__doc__
    vars(described)["__signature__"] = inspect.Signature([*taken, *last])
    method("OUT_0", has_dims=False)(described)


for _name in POINTWISE_METHODS.keys() - _LAYER_3_ALONE:
    _pointwise(_name)


def _convolution(graph: Described, called: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Layer 3's arguments of a convolution; an empty sequence means the default."""
    options = dict(arguments)
    mode = options["convolution_mode"]
    if isinstance(mode, (list, tuple)):
        # Four lists by their place: those for the two sides come first.
        order = ("pre_padding", "post_padding", "stride", "dilation")
        lists = (options["padding"], options["stride"], options["dilation"], mode)
        options |= {"padding": (), **dict(zip(order, lists, strict=True))}
        mode = convolution_mode.CROSS_CORRELATION
    options["convolution_mode"] = c_member(named(convolution_mode, mode, "convolution_mode"))
    one_side = options["pre_padding"] is not None or options["post_padding"] is not None
    if one_side and options["padding"]:
        raise TypeError("padding: either padding, or pre_padding and post_padding")
    for name in ("padding", "pre_padding", "post_padding", "stride", "dilation"):
        given = options.pop(name)
        sizes = () if given is None else integers(name, given)
        if sizes:
            options[name] = list(sizes)
    return options


@method("Y", prepare=_convolution)
def conv_fprop(
    image: tensor,
    weight: tensor,
    padding: Sizes = (),
    stride: Sizes = (),
    dilation: Sizes = (),
    convolution_mode: convolution_mode = _CROSS_CORRELATION,
    *,
    pre_padding: Sizes | None = None,
    post_padding: Sizes | None = None,
) -> None:
    """image * weight. `pre_padding` and `post_padding` go together, in place of `padding`.

    Parameters
    ----------
    image, weight : tensor
        (n, c, *spatial) and (k, c / groups, *window).
    padding, stride, dilation : sequence of int
        One for each spatial dimension; by default 0, 1, 1.
    """


@method("DX", prepare=_convolution)
def conv_dgrad(
    loss: tensor,
    filter: tensor,
    padding: Sizes = (),
    stride: Sizes = (),
    dilation: Sizes = (),
    convolution_mode: convolution_mode = _CROSS_CORRELATION,
    *,
    pre_padding: Sizes | None = None,
    post_padding: Sizes | None = None,
) -> None:
    """The gradient of `conv_fprop` with respect to its image; give it `out_dims`."""


@method("DW", prepare=_convolution)
def conv_wgrad(
    image: tensor,
    loss: tensor,
    padding: Sizes = (),
    stride: Sizes = (),
    dilation: Sizes = (),
    convolution_mode: convolution_mode = _CROSS_CORRELATION,
    *,
    pre_padding: Sizes | None = None,
    post_padding: Sizes | None = None,
) -> None:
    """The gradient of `conv_fprop` with respect to its weight; give it `out_dims`."""


@method("C")
def matmul(
    A: tensor, B: tensor, compute_data_type: Any = _NOT_SET, padding: float = 0.0, name: str = ""
) -> None:
    """The matrix product of the last two dimensions; those before are batches and broadcast."""


@method("OUT_0")
def reduction(
    input: tensor,
    mode: reduction_mode,
    compute_data_type: Any = _NOT_SET,
    name: str = "",
    group_offset: tensor | None = None,
    out_dims: Any = None,
) -> Mapping[str, Any]:
    """Sums, maxima, norms …; give it `out_dims`, 1 where it is reduced.

    `group_offset` says where groups of rows begin, each of which is reduced; cuDNN 9.24.
    """
    how = c_member(named(reduction_mode, mode, "mode"))
    return {"input": input, "mode": how, "group_offset": group_offset}


@method("SUM SQ_SUM")
def genstats(input: tensor) -> None:
    """Sum and sum of squares of each channel, (1, c, 1, …)."""


@method("OUT_0")
def reshape(
    input: tensor,
    name: str = "",
    reshape_mode: reshape_mode = reshape_mode.VIEW_ONLY,
    out_dims: Any = None,
) -> Mapping[str, Any]:
    """The same elements with other dims: `out_dims`, or what is set on the result."""
    mode = named(_reshape_mode, reshape_mode, "reshape_mode")
    # Older versions have no mode, and do what VIEW_ONLY does.
    chosen = None if mode is _reshape_mode.VIEW_ONLY else c_member(mode)
    return {"input": input, "reshape_mode": chosen}


@method("OUT_0")
def transpose(input: tensor, permutation: Sizes) -> Mapping[str, Any]:
    """Dimension i of the result is dimension permutation[i] of `input`."""
    return {"input": input, "permutation": list(permutation)}


@method("OUT_0")
def slice_(input: tensor, slices: Sequence[Any] = ()) -> None:
    """Part of `input`: one Python slice per dimension, with positive steps."""


@method("OUT_0")
def concatenate(
    inputs: Sequence[tensor],
    axis: int,
    in_place_index: int | None = None,
    name: str = "",
    out_dims: Any = None,
) -> None:
    """`inputs` one after the other along `axis`."""


def _pack_along(arguments: Mapping[str, Any], results: Sequence[tensor]) -> None:
    """Lay blocks and scales out with their axis innermost, where the call asks for a transpose."""
    if not arguments["transpose"]:
        return
    x, axis, size = arguments["input"], arguments["axis"], arguments["block_size"]
    axis = -1 if axis is None else axis
    if x.dims is None or x.strides is None:
        raise ValueError("block_scale_quantize: transpose needs an input with dims and strides")
    last = axis % len(x.dims)
    order = axis_order(x.dims, x.strides)
    # The order goes round until the axis is the last one.
    place = order.index(last) + 1
    order = order[place:] + order[:place]
    scales = list(x.dims)
    scales[last] //= size
    for result, dims in zip(results, (x.dims, scales), strict=True):
        result.strides = packed(dims, order)


@method("Y scale", after=_pack_along)
def block_scale_quantize(
    input: tensor, block_size: int, axis: int | None = None, transpose: bool = False
) -> Mapping[str, Any]:
    """Blocks of `input` in a small data type, and the scale of each."""
    return {"input": input, "block_size": block_size, "axis": -1 if axis is None else axis}


@method("OUT_0")
def block_scale_dequantize(
    input: tensor, descale: tensor, block_size: Sizes, is_negative_scale: bool = False
) -> None:
    """`input` times the scale of its block."""


@method("OUT_0")
def moe_grouped_matmul(
    token: tensor,
    weight: tensor,
    first_token_offset: tensor,
    token_index: tensor | None = None,
    token_ks: tensor | None = None,
    mode: moe_grouped_matmul_mode = moe_grouped_matmul_mode.NONE,
    compute_data_type: Any = data_type.FLOAT,
    top_k: int = 0,
    name: str = "",
    top_k_scores: tensor | None = None,
    out_dims: Any = None,
) -> Mapping[str, Any] | Exception:
    """Each group of tokens times the weight of its expert.

    `top_k_scores` goes with the mode COMBINE; ``validate`` refuses both, since cuDNN has no
    such mode: NVIDIA's front end brings a kernel of its own for it.
    """
    combined = named(moe_grouped_matmul_mode, mode, "mode") is moe_grouped_matmul_mode.COMBINE
    if combined or top_k_scores is not None:
        reason = "no engine of cuDNN's adds weighted experts (mode COMBINE, top_k_scores)"
        return not_supported("pygraph.moe_grouped_matmul", reason)
    return {
        "token": token,
        "weight": weight,
        "first_token_offset": first_token_offset,
        "token_index": token_index,
        "token_ks": token_ks,
        "mode": c_member(mode),
        "top_k": top_k or None,
    }


@method("dweight")
def moe_grouped_matmul_bwd(
    doutput: tensor,
    token: tensor,
    first_token_offset: tensor,
    compute_data_type: Any = data_type.FLOAT,
) -> None:
    """The gradient of `moe_grouped_matmul` with respect to weight."""


@method("OUT_0")
def rope(
    input: tensor, freqs: tensor, output_scale: float = 1.0, rope_dim: int = 0
) -> Mapping[str, Any]:
    """Rotary position embedding of the last dimension, by the angles `freqs`. cuDNN 9.24.

    `rope_dim` is how much of the last dimension is rotated; 0 is all. cuDNN has no compute data
    type for it: `compute_data_type` changes nothing.
    """
    options = {"output_scale": output_scale, "rope_dim": rope_dim or None}
    return {"input": input, "freqs": freqs, **options, "compute_data_type": _NOT_SET}


@method("OUT_0")
def rope_backward(
    dY: tensor, freqs: tensor, output_scale: float = 1.0, rope_dim: int = 0
) -> Mapping[str, Any]:
    """The gradient of `rope`, from that of its result."""
    options = {"output_scale": output_scale, "rope_dim": rope_dim or None}
    return {"dY": dY, "freqs": freqs, **options, "compute_data_type": _NOT_SET}


# The normalizations of a `pygraph`, and their gradients.
#
# The forward ones give [Y, mean, inv_variance], the last two None in inference; batch normalization
# also the running statistics, and RMS normalization no mean. The gradients are [DX, DSCALE, DBIAS].

_GRADIENTS = "DX DScale DBias"
# Arguments that may not be left out, though they come after one that may.
_NEEDED = {
    "layernorm_backward": ("mean", "inv_variance"),
    "rmsnorm_backward": ("inv_variance", "has_dbias"),
}


def _norm(graph: Described, called: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Layer 3's arguments of a normalization in one of its phases."""
    phase = named(norm_forward_phase, arguments["norm_forward_phase"], "norm_forward_phase")
    if phase is norm_forward_phase.NOT_SET:
        raise ValueError(f"{called}: norm_forward_phase: INFERENCE or TRAINING")
    if arguments["epsilon"] is None:
        raise TypeError(f"{called}: epsilon is missing")
    return {**arguments, "norm_forward_phase": c_member(phase)}


def _gradients(graph: Described, called: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Layer 3's arguments of a normalization's gradients."""
    for name in _NEEDED.get(called, ()):
        if arguments[name] is None:
            raise TypeError(f"{called}: {name} is missing")
    return arguments


@method("Y mean inv_var", prepare=_norm)
def layernorm(
    norm_forward_phase: norm_forward_phase,
    input: tensor,
    scale: tensor | None = None,
    bias: tensor | None = None,
    epsilon: tensor | None = None,
) -> None:
    """Normalization of the dimensions in which `scale` has a size other than 1."""


@method("Y mean inv_var", prepare=_norm)
def adalayernorm(
    norm_forward_phase: norm_forward_phase,
    input: tensor,
    scale: tensor,
    bias: tensor | None = None,
    epsilon: tensor | None = None,
) -> None:
    """`layernorm` with a scale and bias for each batch."""


@method("Y mean inv_var", prepare=_norm)
def instancenorm(
    norm_forward_phase: norm_forward_phase,
    input: tensor,
    scale: tensor,
    bias: tensor,
    epsilon: tensor,
) -> None:
    """Normalization of each channel of each image."""


@method("Y inv_var", prepare=_norm)
def rmsnorm(
    norm_forward_phase: norm_forward_phase,
    input: tensor,
    scale: tensor | None = None,
    bias: tensor | None = None,
    epsilon: tensor | None = None,
) -> None:
    """[Y, inv_variance]: input / sqrt(mean(input**2) + epsilon) * scale + bias."""


@method("Y mean inv_var next_running_mean next_running_var")
def batchnorm(
    input: tensor,
    scale: tensor,
    bias: tensor,
    in_running_mean: tensor | None,
    in_running_var: tensor | None,
    epsilon: tensor,
    momentum: tensor | None,
    peer_stats: Sequence[tensor] = (),
) -> Mapping[str, Any]:
    """Training: [Y, mean, inv_variance, next_running_mean, next_running_var]."""
    return {
        "input": input,
        "scale": scale,
        "bias": bias,
        "in_running_mean": in_running_mean,
        "in_running_var": in_running_var,
        "epsilon": epsilon,
        # Without running statistics nothing is averaged, and cuDNN wants no factor.
        "momentum": None if in_running_mean is None else momentum,
        "peer_stats": peer_stats,
    }


@method("Y")
def batchnorm_inference(
    input: tensor, mean: tensor, inv_variance: tensor, scale: tensor, bias: tensor
) -> None:
    """(input - mean) * inv_variance * scale + bias."""


@method(_GRADIENTS, prepare=_gradients)
def layernorm_backward(
    grad: tensor,
    input: tensor,
    scale: tensor | None = None,
    mean: tensor | None = None,
    inv_variance: tensor | None = None,
) -> None:
    """[DX, DSCALE, DBIAS] of `layernorm`."""


@method(_GRADIENTS)
def adalayernorm_backward(
    grad: tensor, input: tensor, scale: tensor, mean: tensor, inv_variance: tensor
) -> None:
    """[DX, DSCALE, DBIAS] of `adalayernorm`."""


@method(_GRADIENTS)
def instancenorm_backward(
    grad: tensor,
    input: tensor,
    scale: tensor,
    mean: tensor | None = None,
    inv_variance: tensor | None = None,
) -> None:
    """[DX, DSCALE, DBIAS] of `instancenorm`."""


@method(_GRADIENTS)
def batchnorm_backward(
    grad: tensor,
    input: tensor,
    scale: tensor,
    mean: tensor,
    inv_variance: tensor,
    peer_stats: Sequence[tensor] = (),
) -> None:
    """[DX, DSCALE, DBIAS] of `batchnorm`, or of `batchnorm_inference`."""


@method(_GRADIENTS, prepare=_gradients)
def rmsnorm_backward(
    grad: tensor,
    input: tensor,
    scale: tensor | None = None,
    inv_variance: tensor | None = None,
    has_dbias: bool | None = None,
) -> None:
    """[DX, DSCALE, DBIAS] of `rmsnorm`; DBIAS is None without `has_dbias`."""
