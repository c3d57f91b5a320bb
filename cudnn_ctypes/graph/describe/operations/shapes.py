"""Operations that move elements (reshape, transpose, slice, concatenate), and random numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any

from ....arguments import enumerator, integers
from ....raw import cudnnBackendReshapeMode_t, cudnnRngDistribution_t
from ..node import Inner, Kind, Node, Result, exchanged, named
from ..tensor import Tensor
from ..validation import check_number, integer
from .base import listed, operation


def _infer_reshape(node: Node) -> Mapping[str, Result]:
    x, y = node.inputs["input"], node.outputs["y"]
    if node.options.get("exchange"):
        # The same memory with the last two dimensions exchanged.
        turned = (lambda values: values) if "input" in node.transposed else exchanged
        y.strides, y.ragged_offset = turned(x.strides), x.ragged_offset
        return {"y": Result(turned(x.dims), None, x.data_type)}

    def check(dims: tuple[int, ...]) -> None:
        if math.prod(dims) != math.prod(x.dims):
            node.refuse(
                f"{y.name!r} {dims} and input {x.name!r} {x.dims} differ in their number of "
                "elements"
            )

    return {"y": Result(y.dims, None, x.data_type, check)}


def _infer_transpose(node: Node) -> Mapping[str, Result]:
    x, permutation = node.inputs["input"], node.options["permutation"]
    order = tuple(axis + x.rank if axis < 0 else axis for axis in permutation)
    if sorted(order) != list(range(x.rank)):
        node.refuse(
            f"permutation {tuple(permutation)} does not order the {x.rank} axes of {x.name!r}"
        )
    node.options["permutation"] = order
    return {"y": Result(tuple(x.dims[axis] for axis in order), data_type=x.data_type)}


def _infer_slice(node: Node) -> Mapping[str, Result]:
    x, slices = node.inputs["input"], node.options["slices"]
    place = node.options.get("ellipsis")
    if place is not None:
        whole = (slice(None),) * (x.rank - len(slices))
        slices = node.options["slices"] = (*slices[:place], *whole, *slices[place:])
        node.options["ellipsis"] = None
    if len(slices) != x.rank:
        node.refuse(f"{len(slices)} slices for the {x.rank} dimensions of {x.name!r} {x.dims}")
    ranges = [range(*each.indices(size)) for each, size in zip(slices, x.dims, strict=True)]
    if any(each.step < 1 or not each for each in ranges):
        node.refuse(f"slices {tuple(slices)} of {x.name!r} {x.dims} leave nothing, or go backwards")
    node.options |= {
        "start": [each.start for each in ranges],
        "limit": [each.stop for each in ranges],
        "steps": [each.step for each in ranges],
    }
    return {"y": Result(tuple(map(len, ranges)), x, x.data_type)}


def _infer_concatenate(node: Node) -> Mapping[str, Result]:
    inputs = node.inputs["inputs"]
    first = inputs[0]
    axis = node.axis(first.rank, repr(first.name))
    in_place = node.options.get("in_place_index")
    if in_place is not None and not 0 <= in_place < len(inputs):
        node.refuse(f"in_place_index {in_place} is none of the {len(inputs)} inputs")
    for each in inputs[1:]:
        rest = [tensor.dims[:axis] + tensor.dims[axis + 1 :] for tensor in (first, each)]
        if each.rank != first.rank or rest[0] != rest[1]:
            node.refuse(
                f"{first.name!r} {first.dims} and {each.name!r} {each.dims} differ elsewhere than "
                f"along axis {axis}"
            )
        if each.data_type != first.data_type:
            node.refuse(f"{first!r} and {each!r} differ in their data types")
    dims = list(first.dims)
    dims[axis] = sum(each.dims[axis] for each in inputs)
    return {"y": Result(tuple(dims), first, first.data_type)}


def _infer_rng(node: Node) -> Mapping[str, Result]:
    return {"y": Result(tuple(node.options["dims"]))}


RESHAPE = Kind.of(
    "operation_reshape",
    "input=xdesc",
    "y=ydesc",
    _infer_reshape,
    options="mode",
    own_options={"exchange": bool},
)
TRANSPOSE = Kind.of(
    "operation_transpose",
    "input=xdesc",
    "y=ydesc",
    _infer_transpose,
    options="permutation",
    required="permutation",
)
SLICE = Kind.of(
    "operation_slice",
    "input=xdesc",
    "y=ydesc",
    _infer_slice,
    options="start=start_indices limit=limit_indices steps=strides",
    own_options={"slices": tuple[slice, ...], "ellipsis": int},
    required="slices",
)
CONCATENATE = Kind.of(
    "operation_concat",
    "inputs=input_descs",
    "y=output_desc",
    _infer_concatenate,
    options="axis in_place_index=inplace_index",
    required="axis",
)
RNG = Kind.of(
    "operation_rng",
    "seed?=seed offset?",
    "y=ydesc",
    _infer_rng,
    options="seed",
    inner=Inner(
        "rng",
        "desc",
        named(
            "distribution mean=normal_dist_mean standard_deviation=normal_dist_standard_deviation "
            "minimum=uniform_dist_minimum maximum=uniform_dist_maximum "
            "probability=bernoulli_dist_probability"
        ),
    ),
    own_options={"dims": tuple[int, ...]},
    required="dims distribution",
)


@operation(RESHAPE, computes=False)
def reshape(
    input: Tensor,
    dims: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    *,
    reshape_mode: cudnnBackendReshapeMode_t | str | None = None,
) -> Mapping[str, Any]:
    """The same elements with other dims; ``CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR``.

    Parameters
    ----------
    dims, strides : sequence of int, optional
        Of the result; strides by default as in C. May be given to the result later.
    reshape_mode : cudnnBackendReshapeMode_t or str, optional
        "view_only" or "logical"; cuDNN 9.22 and newer.
    input : Tensor
        With as many elements as the result.

    Returns
    -------
    Tensor
        Of the data type of `input`.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 32))
    >>> y = graph.reshape(x, (8, 32, 64)).set_output()
    >>> _ = graph.validate()
    >>> y.strides
    (2048, 64, 1)
    """
    mode = None
    if reshape_mode is not None:
        mode = enumerator(cudnnBackendReshapeMode_t, reshape_mode, "reshape_mode")
    return {
        "mode": mode,
        "dims": None if dims is None else integers("reshape: dims", dims),
        "strides": None if strides is None else integers("reshape: strides", strides),
    }


@operation(TRANSPOSE)
def transpose(input: Tensor, permutation: Sequence[int]) -> Mapping[str, Any]:
    """Dimension i of the result is dimension permutation[i] of `input`. cuDNN 9.22.

    ``CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR``. The result has the data type of `input`
    and is packed as in C, unless it is given strides. Nothing is computed:
    `compute_data_type` has no effect.

    Notes
    -----
    cuDNN takes the operation, but up to 9.28 has no engine for it by itself on an H200.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 32))
    >>> y = graph.transpose(x, (0, 2, 1)).set_output()
    >>> _ = graph.validate()
    >>> y.dims
    (8, 32, 64)
    """
    return {"permutation": integers("transpose: permutation", permutation)}


@operation(SLICE)
def slice_(input: Tensor, slices: Sequence[slice | EllipsisType]) -> Mapping[str, Any]:
    """Part of `input`: one Python slice per dimension, with positive steps. cuDNN 9.22.

    ``CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR``. ``x[..., :32]`` does the same. The result has the
    data type and the layout of `input`. Nothing is computed: `compute_data_type` has no effect.

    Parameters
    ----------
    slices : sequence of slice
        One for each dimension, such as ``slice(0, 8, 2)``; one ``...`` stands for all others.
    input : Tensor
        Of any rank.

    Notes
    -----
    On an H200 cuDNN has engines for it before a `matmul` only.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> x = graph.tensor((8, 64, 32))
    >>> y = graph.slice(x, (slice(0, 4), slice(None), slice(0, 32, 2))).set_output()
    >>> _ = graph.validate()
    >>> y.dims
    (4, 64, 16)
    """
    parts = tuple(listed("slice: slices", slices))
    if not all(isinstance(each, slice) or each is Ellipsis for each in parts):
        raise TypeError(f"slice: slices: expected a slice per dimension, got {slices!r}")
    places = [place for place, each in enumerate(parts) if each is Ellipsis]
    if not places:
        return {"slices": parts}
    if len(places) > 1:
        raise ValueError(f"slice: slices: ... stands more than once in {tuple(parts)}")
    return {"slices": parts[: places[0]] + parts[places[0] + 1 :], "ellipsis": places[0]}


@operation(CONCATENATE, computes=False)
def concatenate(
    inputs: Sequence[Tensor], axis: int, *, in_place_index: int | None = None
) -> Mapping[str, Any]:
    """`inputs` one after the other along `axis`; ``CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR``.

    Parameters
    ----------
    inputs : sequence of Tensor
        Of one data type, and of the same sizes but along `axis`.
    axis : int
        Negative from the last dimension on.
    in_place_index : int, optional
        Which input shares its memory with the result.

    Notes
    -----
    cuDNN takes the operation, but up to 9.28 has no engine for it by itself on an H200.

    Examples
    --------
    >>> graph = Graph(io_data_type="float16")
    >>> a, b = graph.tensor((8, 64, 32)), graph.tensor((8, 16, 32))
    >>> y = graph.concatenate([a, b], axis=1).set_output()
    >>> _ = graph.validate()
    >>> y.dims
    (8, 80, 32)
    """
    if not isinstance(inputs, Sequence) or not inputs:
        raise TypeError("concatenate: inputs: expected a sequence of at least one tensor")
    return {"inputs": list(inputs)}


@operation(RNG, computes=False)
def rng(
    dims: Sequence[int],
    distribution: cudnnRngDistribution_t | str = "bernoulli",
    *,
    seed: Tensor | int,
    offset: Tensor | None = None,
    probability: float | None = None,
    mean: float | None = None,
    standard_deviation: float | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Mapping[str, Any]:
    """Random numbers (Philox): "bernoulli" (`probability` of 1), "uniform" or "normal".

    ``CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR``.

    Parameters
    ----------
    dims : sequence of int
        Of the result.
    probability : float
        For "bernoulli".
    minimum, maximum, mean, standard_deviation : float
        For "uniform", and for "normal".
    seed : Tensor of int64, or int
        The same seed and offset give the same numbers.
    offset : Tensor of int64, optional
        Where in the stream of random numbers to begin.
    distribution : cudnnRngDistribution_t or str
        "bernoulli", "uniform" or "normal".

    Notes
    -----
    On an H200 cuDNN has engines for it within attention only; see `sdpa`.
    """
    code = enumerator(cudnnRngDistribution_t, distribution, "rng: distribution")
    if code == cudnnRngDistribution_t.CUDNN_RNG_DISTRIBUTION_BERNOULLI and probability is None:
        raise TypeError("rng: a bernoulli distribution needs its probability")
    if probability is not None:
        check_number("rng: probability", probability)
        probability = float(getattr(probability, "value", probability))
    if probability is not None and not 0 <= probability <= 1:
        raise ValueError(f"rng: a probability is from 0 to 1, got {probability!r}")
    return {
        "dims": integers("rng: dims", dims),
        "probability": probability,
        "seed": seed if isinstance(seed, Tensor) else integer("rng: seed", seed),
    }
