"""Batch normalization with fixed statistics, as cuDNN has an engine for it.

By itself it is element-wise: no engine computes it as one operation. In front of the backward pass
of the same normalization, as in a residual block, it must be one operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..graph.describe.node import Node
from ..graph.describe.operations.normalization_kinds import NORM_FORWARD
from ..graph.graph import Graph
from ..raw import cudnnBackendNormFwdPhase_t, cudnnBackendNormMode_t

__all__ = ["BatchInference"]

_OPTIONS = {
    "mode": cudnnBackendNormMode_t.CUDNN_BATCH_NORM,
    "phase": cudnnBackendNormFwdPhase_t.CUDNN_NORM_FWD_INFERENCE,
}


@dataclass(frozen=True)
class BatchInference:
    """The element-wise nodes that stand for it, in their order; the last one gives the result.

    Attributes
    ----------
    nodes : sequence of Node
    operands : dict of str to Tensor
        "input", "mean", "inv_variance", "scale", "bias".
    """

    nodes: Sequence[Node]
    operands: dict[str, Any]

    def of(self, input: Any) -> bool:
        """Whether this normalizes that tensor."""
        return self.operands["input"] is input

    def join(self, graph: Graph) -> None:
        """Put one operation in place of the nodes."""
        last = self.nodes[-1]
        (y,) = last.outputs.values()
        within = {id(tensor) for node in self.nodes[:-1] for tensor in node.outputs.values()}
        graph.tensors = [tensor for tensor in graph.tensors if id(tensor) not in within]
        place = graph.nodes.index(self.nodes[0])
        graph.nodes = [node for node in graph.nodes if node not in self.nodes]
        joined = Node(
            NORM_FORWARD,
            "batchnorm_inference",
            last.name,
            dict(self.operands),
            {"y": y},
            dict(_OPTIONS),
            last.compute_data_type,
        )
        graph.nodes.insert(place, joined)
