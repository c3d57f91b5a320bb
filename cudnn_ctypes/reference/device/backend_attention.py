"""Attention as one operation, from its descriptors."""

from __future__ import annotations

from typing import Any

from .. import graph
from .backend_steps import Results, Step, operation

__all__: list[str] = []


def _mask(step: Step) -> graph.AttentionMask:
    blocks = step.get("BLOCK_MASK_DESC") if step.name == "sdpa_fwd" else None
    return graph.AttentionMask(
        step.get("SEQ_LEN_QDESC"),
        step.get("SEQ_LEN_KVDESC"),
        None if blocks is None else graph.unpacked_blocks(blocks),
    )


def _loaded(step: Step, letter: str) -> Any:
    """Keys or values, from their pages if they have some."""
    stored, table = step[f"{letter}DESC"], step.get(f"PAGE_TABLE_{letter}DESC")
    if table is None:
        return stored
    length = table.shape[2] * stored.shape[2]
    return graph.load_pages(stored, table, step["SEQ_LEN_KVDESC"], length)


@operation("OPERATION_SDPA_FWD", "ODESC STATSDESC")
def sdpa(step: Step) -> Results:
    step.refuse_if_set("SUBGRAPH", "SOFTMAX_DESC", "DROPOUT_SEED_DESC", "DROPOUT_PROBABILITY")
    step.refuse_if_set("CU_SEQ_LEN_QDESC", "CU_SEQ_LEN_KVDESC", "DESCALE_QDESC", "SCALE_ODESC")
    scale = step.number("SCALEDESC", 1.0)
    o, stats = graph.sdpa(step["QDESC"], _loaded(step, "K"), _loaded(step, "V"), scale, _mask(step))
    return {"ODESC": o, "STATSDESC": stats}


@operation("OPERATION_SDPA_BWD", "DQDESC DKDESC DVDESC")
def sdpa_backward(step: Step) -> Results:
    step.refuse_if_set("SUBGRAPH", "SINK_DESC", "DBIAS_DESC", "DROPOUT_SEED_DESC")
    step.refuse_if_set("CU_SEQ_LEN_QDESC", "CU_SEQ_LEN_KVDESC", "DROPOUT_PROBABILITY")
    dq, dk, dv = graph.sdpa_backward(
        step["QDESC"],
        step["KDESC"],
        step["VDESC"],
        step["ODESC"],
        step["DODDESC"],
        step["STATSDESC"],
        step.number("SCALEDESC", 1.0),
        _mask(step),
    )
    return {"DQDESC": dq, "DKDESC": dk, "DVDESC": dv}
