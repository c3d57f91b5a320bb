"""From a description to the operations that the loaded version of cuDNN wants."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....dtypes import data_type_name, storage_bytes
from ....raw import cudnnBackendNormFwdPhase_t, cudnnBackendNormMode_t, cudnnDataType_t
from ...describe.description import PictureMethods
from ...describe.form import form
from ...describe.node import Kind, Node
from ...describe.operations.attention import (
    SDPA,
    SDPA_BACKWARD,
    SDPA_FP8,
    SDPA_FP8_BACKWARD,
    SDPA_UNIFIED,
    SDPA_UNIFIED_BACKWARD,
)
from ...describe.operations.batch_normalization import BATCHNORM_INFERENCE
from ...describe.operations.normalizations import NORM_BACKWARD, NORM_FORWARD, normalized_axes
from ...describe.serialization import canonical
from ...describe.tensor import Tensor
from ...describe.validation import DataTypes, infer_node, number_tensors
from ..target import Target
from . import attention
from .builder import Builder, Expand, in_parts

# Batch normalization with fixed statistics, as cuDNN has an engine for it.
#
# By itself it is element-wise: no engine computes it as one operation. In front of the backward
# pass of the same normalization, as in a residual block, it must be one operation.

_BATCH = cudnnBackendNormMode_t.CUDNN_BATCH_NORM
_INFERENCE = cudnnBackendNormFwdPhase_t.CUDNN_NORM_FWD_INFERENCE


def expand_batchnorm_inference(g: Builder, node: Node) -> None:
    """Four element-wise operations, or one in front of the backward pass."""
    x = node.inputs["input"]
    if any(
        each.kind is NORM_BACKWARD and each.options["mode"] == _BATCH and each.inputs["input"] is x
        for each in g.users
    ):
        options = {"mode": _BATCH, "phase": _INFERENCE}
        g.append(NORM_FORWARD, node.operation, node.inputs, options, node.outputs)
        return
    y = g.sub(x, node.inputs["mean"], compute_data_type=node.compute_data_type)
    for port, operation in (("inv_variance", g.mul), ("scale", g.scale), ("bias", g.bias)):
        y = operation(y, node.inputs[port], compute_data_type=node.compute_data_type)
    g.into(y, node.outputs["y"])


def expand_norm(g: Builder, node: Node) -> None:
    """The norm with a scale of ones, whose dims say what is normalized."""
    x, axes = node.inputs["input"], normalized_axes(node)
    dims = [size if axis in axes else 1 for axis, size in enumerate(x.dims)]
    like = node.inputs.get("bias", x)
    small = storage_bytes(like.data_type, 1) < 2
    ones = g.constant(
        dims, 1.0, cudnnDataType_t.CUDNN_DATA_FLOAT if small else like.data_type, g.named("ones")
    )
    outputs = dict(node.outputs)
    if node.kind is NORM_BACKWARD:  # cuDNN wants the gradient of a scale, too
        outputs["dscale"] = g.as_scratch(g.tensor(dims, name=g.named("dscale")), dims)
        outputs["dscale"].data_type = ones.data_type
    g.append(node.kind, node.operation, {**node.inputs, "scale": ones}, node.options, outputs)


_EXPANSIONS: tuple[tuple[Kind, Expand], ...] = (
    (SDPA, attention.expand_sdpa),
    (SDPA_BACKWARD, attention.expand_sdpa_backward),
    (SDPA_FP8, attention.expand_sdpa_fp8),
    (SDPA_FP8_BACKWARD, attention.expand_sdpa_fp8_backward),
    (SDPA_UNIFIED, attention.expand_sdpa_unified),
    (SDPA_UNIFIED_BACKWARD, attention.expand_sdpa_unified_backward),
    (BATCHNORM_INFERENCE, expand_batchnorm_inference),
    (NORM_FORWARD, expand_norm),
    (NORM_BACKWARD, expand_norm),
)


@dataclass(frozen=True)
class Prelude:
    """A graph that fills a tensor in the workspace, or a small output.

    - `result`: this tensor.
    - `reason`: what an engine would misread.
    """

    expansion: Expansion
    result: Tensor
    reason: str

    def __str__(self) -> str:
        dims, kind = self.result.dims or (), self.result.data_type
        nbytes = storage_bytes(kind, math.prod(dims))
        return f"{self.expansion.operations} to {dims}, {nbytes} bytes: {self.reason}"


@dataclass(frozen=True)
class Expansion(PictureMethods):
    """A graph of primitive nodes, ready to be lowered.

    Pictures of it (``to_svg``, and in notebooks) show which of the user's operations each is a part
    of.

    - `nodes`: in an order in which they can be carried out; no composite ones.
    - `tensors`: the user's, then those that expansion added.
    - `compute_data_type`: of nodes that have none of their own.
    - `preludes`: small graphs that run before, each of which fills a tensor.
    """

    nodes: list[Node]
    tensors: list[Tensor]
    compute_data_type: cudnnDataType_t
    preludes: tuple[Prelude, ...] = ()

    @property
    def operations(self) -> str:
        """The user's operations, for messages."""
        return ", ".join(dict.fromkeys(map(str, self.nodes)))

    @functools.cached_property
    def form(self) -> str:
        """All that decides how engines compute it but for its sizes, as text; see `form`."""
        return form(self.nodes, self.compute_data_type)

    @functools.cached_property
    def seen_twice(self) -> Tensor | None:
        """A tensor that is read both as it is and transposed; None if there is none.

        cuDNN's text of a plan keeps one of the two, so that what is read back computes wrong.
        """
        seen: dict[int | None, bool] = {}
        for node in self.nodes:
            for port, each in (*node.inputs.items(), *node.outputs.items()):
                turned = port in node.transposed
                if isinstance(each, Tensor) and seen.setdefault(each.uid, turned) != turned:
                    return each
        return None

    def canonical(self) -> dict[str, Any]:
        """The nodes and tensors without names, for JSON: equal for graphs that compute the same."""
        precision = data_type_name(self.compute_data_type)
        return {"compute_data_type": precision, **canonical(self.nodes, self.tensors)}


def expand(
    nodes: Sequence[Node],
    tensors: Sequence[Tensor],
    data_types: DataTypes,
    target: Target,
    *,
    fixed: bool = True,
) -> Expansion:
    """The operations and tensors that a cuDNN and a GPU want for a validated graph.

    The graph stays as it is: what is added are new nodes and tensors. Nodes that are one operation
    of cuDNN's are taken as they are.

    - `nodes`: in an order in which they can be carried out.
    - `target`: the version of cuDNN, and the GPU.
    - `fixed`: whether the shapes stay, so that they may stand in what is added.

    Raises ValueError: the message names the user's operation.
    """
    if not any(in_parts(each) for node in nodes for each in (node, *node.inner)):
        return Expansion(list(nodes), list(tensors), data_types.compute)
    builder = Builder(nodes, tensors, target, _EXPANSIONS, fixed=fixed)
    for node in nodes:
        builder.take(node)
    own = {id(each) for each in tensors}
    for node in builder.nodes:
        for each in (node, *node.inner):
            if each.origin is not None:
                infer_node(each, data_types)
    added = [each for each in builder.tensors if id(each) not in own]
    every = [*tensors, *added]
    number_tensors(every)
    return Expansion(builder.nodes, every, data_types.compute)
