"""Numbers in blocks with a scale (Rouhani et al.: Microscaling formats; 2023), experts, signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....arguments import flag, integers
from ....raw import cudnnBackendTensorReordering_t, cudnnMoeGroupedMatmulMode_t, cudnnSignalMode_t
from ..node import Kind, Node, Result
from ..tensor import Tensor
from .base import operation

Reordering = cudnnBackendTensorReordering_t


def _infer_quantize(node: Node) -> Mapping[str, Result]:
    x, size = node.inputs["input"], node.options["block_size"]
    axis = node.axis(x.rank, repr(x.name))
    if size < 1:
        node.refuse(f"block_size {size} must be positive")
    if x.dims[axis] % size:
        node.refuse(f"blocks of {size} do not divide dimension {axis} of input {x.name!r} {x.dims}")
    scales = list(x.dims)
    scales[axis] //= size
    scale = node.outputs["scale"]
    if x.rank == 3 and scale.reordering == Reordering.CUDNN_TENSOR_REORDERING_NONE:
        # The only order that cuDNN takes then.
        scale.reordering = Reordering.CUDNN_TENSOR_REORDERING_F8_128x4
    if x.rank == 3 and axis > 0:  # whole tiles
        other = 3 - axis
        scales[axis] += -scales[axis] % 4
        scales[other] += -scales[other] % 128
    return {"y": Result(x.dims, x), "scale": Result(tuple(scales), x)}


def _infer_dequantize(node: Node) -> Mapping[str, Result]:
    x, scale = node.inputs["input"], node.inputs["descale"]
    if any(size < 1 for size in node.options["block_size"]):  # by 0 cuDNN divides
        node.refuse(f"block_size {node.options['block_size']} must be positive")
    if scale.rank != x.rank:
        node.refuse(f"descale {scale.name!r} {scale.dims} needs the rank of {x.name!r} {x.dims}")
    return {"y": Result(x.dims, x)}


BLOCK_SCALE_QUANTIZE = Kind.of(
    "operation_block_scale_quantize",
    "input=xdesc",
    "y=ydesc scale",
    _infer_quantize,
    options="block_size",
    own_options={"axis": int},
    required="axis block_size",
    precision="math_prec",
)
BLOCK_SCALE_DEQUANTIZE = Kind.of(
    "operation_block_scale_dequantize",
    "input=xdesc descale=scale_desc",
    "y=ydesc",
    _infer_dequantize,
    options="block_size negative_scale=neg_scale",
    precision="math_prec",
    required="block_size",
)


@operation(BLOCK_SCALE_QUANTIZE, returns=("y", "scale"))
def block_scale_quantize(input: Tensor, block_size: int, *, axis: int = -1) -> Mapping[str, Any]:
    """Blocks along `axis` in a small type, and the scale of each. cuDNN 9.7.

    ``CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR``.

    Parameters
    ----------
    input : Tensor
        Of any rank; its size along `axis` is a multiple of `block_size`.
    block_size : int
        32 for the MX formats, 16 for nvfp4.
    axis : int
        The dimension that is cut into blocks; negative from the last one on.

    Returns
    -------
    y : Tensor
        The dims of `input`; give it a data type, "fp8_e4m3" or "fp4_e2m1".
    scale : Tensor
        Along `axis` one for each block; give it a data type, "fp8_e8m0" or "fp8_e4m3". With
        three dimensions its reordering is "f8_128x4" by default, and its dims are those of
        whole tiles: multiples of 4 along `axis` and of 128 along the other.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((1, 128, 256))
    >>> y, scale = graph.block_scale_quantize(x, 32)
    >>> _ = y.set_output(data_type="fp8_e4m3"), scale.set_output(data_type="fp8_e8m0")
    >>> _ = graph.validate()
    >>> y.dims, scale.dims
    ((1, 128, 256), (1, 128, 8))
    """
    return {}


@operation(BLOCK_SCALE_DEQUANTIZE)
def block_scale_dequantize(
    input: Tensor,
    descale: Tensor,
    block_size: int | Sequence[int],
    *,
    is_negative_scale: bool = False,
) -> Mapping[str, Any]:
    """`input` times the scale of its block. cuDNN 9.7.

    ``CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR``.

    Parameters
    ----------
    input, descale : Tensor
        Of one rank: small numbers, and one scale for each block of them.
    block_size : int or sequence of int
        Of a block, along its dimensions.
    is_negative_scale : bool
        cuDNN's NEG_SCALE; cuDNN 9.13. The reference device does not carry it out.

    Returns
    -------
    Tensor
        Of the dims of `input`; give it a data type.
    """
    one = not isinstance(block_size, Sequence)
    sizes = integers("block_scale_dequantize: block_size", [block_size] if one else block_size)
    negative = flag("block_scale_dequantize: is_negative_scale", is_negative_scale)
    return {"block_size": sizes, "negative_scale": negative or None}


Moe = cudnnMoeGroupedMatmulMode_t


def _infer_experts(node: Node) -> Mapping[str, Result]:
    token, weight = node.inputs["token"], node.inputs["weight"]
    experts = node.inputs["first_token_offset"]
    if experts.dims[0] % weight.dims[0]:
        node.refuse(
            f"first_token_offset {experts.name!r} {experts.dims} needs a number for each expert "
            f"of weight {weight.name!r} {weight.dims}, in each batch"
        )
    if token.rank != 3 or weight.rank != 3 or token.dims[2] != weight.dims[1]:
        node.refuse(
            f"token {token.name!r} {token.dims} and weight {weight.name!r} {weight.dims} must be "
            "(1, tokens, k) and (experts, k, n)"
        )
    rows = token
    if node.options["mode"] == Moe.CUDNN_MOE_GROUPED_MATMUL_MODE_GATHER:
        if "token_index" not in node.inputs:
            node.refuse("the mode 'gather' needs token_index")
        rows = node.inputs["token_index"]
        if rows.rank != 3:
            node.refuse(f"token_index {rows.name!r} {rows.dims} must be (1, rows, 1)")
    return {"y": Result((1, rows.dims[1], weight.dims[2]))}


def _infer_experts_backward(node: Node) -> Mapping[str, Result]:
    grad, token = node.inputs["doutput"], node.inputs["token"]
    offsets = node.inputs["first_token_offset"]
    if grad.rank != 3 or token.rank != 3:
        node.refuse(
            f"doutput {grad.name!r} {grad.dims} and token {token.name!r} {token.dims} must be "
            "(1, tokens, n) and (1, tokens, k)"
        )
    return {"dweight": Result((offsets.dims[0], token.dims[2], grad.dims[2]))}


def _infer_signal(node: Node) -> Mapping[str, Result]:
    x = node.inputs["input"]
    return {"y": Result(x.dims, x, x.data_type)}


MOE_GROUPED_MATMUL = Kind.of(
    "operation_moe_grouped_matmul",
    "token weight first_token_offset token_index? token_ks?",
    "y=output_desc",
    _infer_experts,
    options="mode top_k",
    precision="math_prec",
    required="mode",
)
MOE_GROUPED_MATMUL_BACKWARD = Kind.of(
    "operation_moe_grouped_matmul_bwd",
    "doutput token first_token_offset",
    "dweight",
    _infer_experts_backward,
    precision="math_prec",
)
SIGNAL = Kind.of(
    "operation_signal",
    "input=xdesc flag=flagdesc",
    "y=ydesc",
    _infer_signal,
    options="mode value",
    required="mode value",
)


@operation(MOE_GROUPED_MATMUL)
def moe_grouped_matmul(
    token: Tensor,
    weight: Tensor,
    first_token_offset: Tensor,
    *,
    token_index: Tensor | None = None,
    token_ks: Tensor | None = None,
    mode: cudnnMoeGroupedMatmulMode_t | str = "none",
    top_k: int | None = None,
) -> None:
    """Each group of tokens times the weight of its expert. cuDNN 9.15.

    ``CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR``.

    Parameters
    ----------
    token : Tensor
        (1, rows, k), sorted by expert; with "gather" (1, tokens, k) in any order.
    weight : Tensor
        (experts, k, n).
    first_token_offset : Tensor
        (batches * experts, 1, 1), int32: where each expert's rows begin.
    token_index : Tensor, optional
        (1, rows, 1), int32, for "gather" and "scatter": which token each row is.
    token_ks : Tensor, optional
        (1, rows, 1), int32, for "scatter".
    top_k : int, optional
        Experts of each token, for "scatter".
    mode : cudnnMoeGroupedMatmulMode_t or str
        "none": rows are in order. "gather": `token_index` picks them; "scatter": places them.

    Returns
    -------
    Tensor
        (1, rows, n).

    Notes
    -----
    On an H200 cuDNN 9.19 has no engine for "scatter", and its engine for "gather" reads memory
    that is not there, which ends all work of the process on the GPU.
    """


@operation(MOE_GROUPED_MATMUL_BACKWARD)
def moe_grouped_matmul_bwd(doutput: Tensor, token: Tensor, first_token_offset: Tensor) -> None:
    """The gradient of `moe_grouped_matmul` with respect to weight. cuDNN 9.22.

    ``CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR``.

    Parameters
    ----------
    doutput : Tensor
        The gradient with respect to the result, (1, rows, n).
    token : Tensor
        (1, rows, k).
    first_token_offset : Tensor
        (batches * experts, 1, 1), int32.

    Returns
    -------
    Tensor
        (batches * experts, k, n).
    """


@operation(SIGNAL, computes=False)
def signal(input: Tensor, flag: Tensor, mode: cudnnSignalMode_t | str, value: int) -> None:
    """`input`, once `flag` has reached `value` ("wait"); "set" sets `flag` to it afterwards.

    ``CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR``.

    Parameters
    ----------
    input : Tensor
        What waits, or whose writing is told of.
    flag : Tensor
        One int32 in memory that several GPUs see.
    mode : "wait" or "set"
        Whether to read the flag before, or to write it afterwards.
    value : int
        What the flag is compared with, or becomes.

    Returns
    -------
    Tensor
        Like `input`.

    Notes
    -----
    cuDNN takes the operation, but up to 9.28 has no engine for it on an H200.
    """
