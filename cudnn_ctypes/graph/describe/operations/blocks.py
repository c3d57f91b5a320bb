"""Numbers in blocks with a scale: microscaling formats (Rouhani et al., 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....arguments import flag, integers
from ....raw import cudnnBackendTensorReordering_t
from ..node import Kind, Node, Result
from ..tensor import Tensor
from .base import operation

__all__ = ["BLOCK_SCALE_DEQUANTIZE", "BLOCK_SCALE_QUANTIZE"]

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


BLOCK_SCALE_QUANTIZE = Kind(
    "operation_block_scale_quantize",
    {"input": "xdesc"},
    {"y": "ydesc", "scale": "scale_desc"},
    _infer_quantize,
    options={"block_size": "block_size"},
    own_options={"axis": int},
    required=frozenset({"axis", "block_size"}),
    precision="math_prec",
)
BLOCK_SCALE_DEQUANTIZE = Kind(
    "operation_block_scale_dequantize",
    {"input": "xdesc", "descale": "scale_desc"},
    {"y": "ydesc"},
    _infer_dequantize,
    options={"block_size": "block_size", "negative_scale": "neg_scale"},
    precision="math_prec",
    required=frozenset({"block_size"}),
)


@operation(BLOCK_SCALE_QUANTIZE, returns=("y", "scale"))
def block_scale_quantize(
    input: Tensor,
    block_size: int,
    *,
    axis: int = -1,
) -> Mapping[str, Any]:
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
    if not isinstance(block_size, int) or block_size < 1:
        raise ValueError(f"block_scale_quantize: block_size {block_size!r} must be positive")
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
