"""Batch normalization with fixed statistics, as cuDNN has an engine for it.

By itself it is element-wise: no engine computes it as one operation. In front of the backward pass
of the same normalization, as in a residual block, it must be one operation.
"""

from __future__ import annotations

from ....raw import cudnnBackendNormFwdPhase_t, cudnnBackendNormMode_t
from ...describe.node import Node
from ...describe.operations.normalizations import NORM_BACKWARD, NORM_FORWARD
from .builder import Builder

__all__ = ["expand_batchnorm_inference"]

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
