"""Results left out: statistics that only training needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....raw import cudnnBackendNormFwdPhase_t, cudnnBackendNormMode_t
from ..operations.attention import SDPA
from ..operations.attention_fp8 import SDPA_FP8
from ..operations.normalizations import NORM_FORWARD
from ..rewriting import Edit
from .remedy import Remedy

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["result_remedies"]

_Phase = cudnnBackendNormFwdPhase_t
_BATCH = cudnnBackendNormMode_t.CUDNN_BATCH_NORM


def result_remedies(graph: Graph) -> Iterator[Remedy]:
    """Inference instead of training."""
    yield Remedy("results", "leave out {}, which only training needs", _inference, loses=True)


def _inference(graph: Graph) -> Edit:
    edit = Edit()
    used = {id(each) for node in graph.nodes for each in node.operands}
    for index, node in enumerate(graph.nodes):
        if node.kind not in (NORM_FORWARD, SDPA, SDPA_FP8):
            continue
        kept = "y" if node.kind is NORM_FORWARD else "o"
        if node.options.get("mode") == _BATCH:  # its inference needs statistics
            continue
        others = [each for port, each in node.outputs.items() if port != kept]
        if not others or any(id(each) in used for each in others):
            continue
        edit.without |= {i for i, t in enumerate(graph.tensors) if any(t is o for o in others)}
        if node.kind is NORM_FORWARD:
            edit.nodes[index] = {"phase": _Phase.CUDNN_NORM_FWD_INFERENCE}
    return edit
