"""Attention as one operation, from its descriptors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...raw import cudnnBackendAttributeName_t as Name
from .. import graph
from .backend_steps import Results, Step, evaluate, in_order, operation
from .backend_tensors import rounded


def _mask(step: Step, queries: int, keys: int) -> graph.AttentionMask:
    blocks = step.get("BLOCK_MASK_DESC") if step.name == "sdpa_fwd" else None
    return graph.AttentionMask(
        step.lengths("Q", queries),
        step.lengths("KV", keys),
        None if blocks is None else graph.unpacked_blocks(blocks),
    )


def _loaded(step: Step, letter: str) -> Any:
    """Keys or values, from their pages if they have some."""
    stored, table = step[f"{letter}DESC"], step.get(f"PAGE_TABLE_{letter}DESC")
    if table is None:
        return stored
    length = table.shape[2] * stored.shape[2]
    lengths = step.lengths("KV", length)
    if lengths is None:
        raise step.refused("pages without the lengths of the sequences")
    return graph.load_pages(stored, table, lengths, length)


def _modified(step: Step, scores: Any) -> Any:
    """The scores after the operation graph in the attribute SUBGRAPH; unchanged without one."""
    subgraph = step.option("SUBGRAPH")
    if subgraph is None:
        return scores
    first, last = (step.option(f"SUBGRAPH_{each}_UID") for each in ("INPUT", "OUTPUT"))
    operations = subgraph.all(Name.CUDNN_ATTR_OPERATIONGRAPH_OPS)
    steps = in_order([step.beside(each) for each in operations])
    given = next((info for each in steps for info in each.reads if info.uid == first), None)
    if given is None:
        raise step.refused(f"no operation of its SUBGRAPH reads the tensor {first}")
    step.values[first] = (given, rounded(scores, given, given.shape))
    evaluate(steps)
    if last not in step.values:
        raise step.refused(f"no operation of its SUBGRAPH makes the tensor {last}")
    return step.values[last][1].astype(np.float64)


def _kept(step: Step, shape: tuple[int, ...]) -> Any:
    """Dropout factors for the softmax: 0 or the scale that keeps the expected sum; 1 without
    dropout."""
    probability = step.option("DROPOUT_PROBABILITY", 0.0)
    if not probability:
        return 1.0
    seed, offset = (int(step.number(f"DROPOUT_{each}_DESC")) for each in ("SEED", "OFFSET"))
    return graph.bernoulli(shape, 1 - probability, seed, offset) / (1 - probability)


@operation("OPERATION_SDPA_FWD", "ODESC STATSDESC DROPOUT_RNG_DUMP_DESC")
def sdpa(step: Step) -> Results:
    step.refuse_if_set("DESCALE_QDESC", "SCALE_ODESC")
    held = step.option("SOFTMAX_DESC")
    softmax = None if held is None else step.beside(held)
    if softmax is not None:
        for info in softmax.reads:
            if not info.virtual and info.uid not in step.values:
                step.values[info.uid] = (info, step.memory.load(info))
    q, k, v = step["QDESC"], _loaded(step, "K"), _loaded(step, "V")
    kept = _kept(step, (*q.shape[:3], k.shape[2]))
    found = graph.sdpa(
        q,
        k,
        v,
        step.number("SCALEDESC", 1.0),
        _mask(step, q.shape[2], k.shape[2]),
        modify=lambda scores: _modified(step, scores),
        sink=None if softmax is None else softmax.get("SINK_DESC"),
        kept=kept,
    )
    parts = {"STATS_DESC": found.stats, "MAX_DESC": found.maximum, "SUM_EXP_DESC": found.sum_exp}
    for port, info in softmax.writes if softmax is not None else ():
        if port in parts:
            step.within.append((info, parts[port]))
    return {"ODESC": found.o, "STATSDESC": found.stats, "DROPOUT_RNG_DUMP_DESC": np.sign(kept)}


@operation("OPERATION_SDPA_BWD", "DQDESC DKDESC DVDESC")
def sdpa_backward(step: Step) -> Results:
    step.refuse_if_set("SUBGRAPH", "SINK_DESC", "DBIAS_DESC", "DROPOUT_SEED_DESC")
    step.refuse_if_set("DROPOUT_PROBABILITY")
    q, k = step["QDESC"], step["KDESC"]
    dq, dk, dv = graph.sdpa_backward(
        q,
        k,
        step["VDESC"],
        step["ODESC"],
        step["DODDESC"],
        step["STATSDESC"],
        step.number("SCALEDESC", 1.0),
        _mask(step, q.shape[2], k.shape[2]),
    )
    return {"DQDESC": dq, "DKDESC": dk, "DVDESC": dv}
