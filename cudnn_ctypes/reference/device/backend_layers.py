"""Normalizations, attention and operations around it, from their descriptors.

Attention is computed in blocks of batches, heads and queries: memory for the scores of some.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import raw
from ...raw import cudnnBackendAttributeName_t as Name
from .. import graph
from ..tiles import Tile, other_axes, tiled, tiles
from .backend_records import Record, TensorInfo, assign, rounded
from .backend_steps import Results, Step, Values, evaluate, in_order, load_operands, operation

_TRAINING = raw.CUDNN_NORM_FWD_TRAINING
_STATISTICS = ("MEAN_DESC", "INV_VARIANCE_DESC")
_RUNNING = ("OUTPUT_RUNNING_MEAN_DESC", "OUTPUT_RUNNING_VAR_DESC")


def _mode(step: Step) -> tuple[Any, tuple[int, ...]]:
    """The mode, and the axes of its sums."""
    mode = raw.cudnnBackendNormMode_t(step.option("MODE", 0))
    scale = step.find("SCALE_DESC")
    x_shape, shape = step.tensor("XDESC").shape, scale.shape if scale else None
    statistics = step.find("INV_VARIANCE_DESC")
    if shape is None and statistics is not None:  # they vary where a scale does not
        shape = tuple(
            1 if n > 1 else size for n, size in zip(statistics.shape, x_shape, strict=True)
        )
    try:
        axes = graph.axes_of(mode, x_shape, shape)
    except ValueError as error:
        raise step.refused(str(error)) from error
    return mode, axes


def _forward_outputs(step: Step) -> tuple[str, ...]:
    trains = step.option("PHASE") == _TRAINING
    return ("YDESC", *_STATISTICS, *_RUNNING) if trains else ("YDESC",)


@operation("OPERATION_NORM_FWD", _forward_outputs)
def normalization_forward(step: Step) -> Results:
    step.refuse_if_set("PEER_STAT_DESCS")
    mode, axes = _mode(step)
    epsilon, target = step.number("EPSILON_DESC"), step.tensor("YDESC")
    saved: tuple[Any, Any] = (None, None)
    if step.option("PHASE") != _TRAINING:
        saved = (step.get("MEAN_DESC"), step.get("INV_VARIANCE_DESC"))

    x = step.stored("XDESC")
    y = step.memory_for("YDESC", x.shape, x)

    def formula(x: Any, y: Any, mean: Any, inv_variance: Any, *factors: Any) -> tuple[Any, ...]:
        found = graph.statistics(mode, x, axes, epsilon)
        if inv_variance is None:
            inv_variance, mean = found.inv_variance, None
        centred = found.centred if mean is None else x - mean
        assign(y, graph.normalize(centred, inv_variance, *factors), target)
        return found.mean, found.inv_variance, found.unbiased

    operands = (y, *saved, step.get("SCALE_DESC"), step.get("BIAS_DESC"))
    kept = other_axes(x, axes)
    mean, inv_variance, variance = tiled(formula, x, *operands, axes=kept, growth=1 / 2)
    results = {"YDESC": y, "MEAN_DESC": mean, "INV_VARIANCE_DESC": inv_variance}
    if step.find("INPUT_RUNNING_MEAN_DESC") is not None:
        momentum = step.number("EXP_AVG_FACTOR_DESC", 1.0)
        for port, current in zip(("MEAN", "VAR"), (mean, variance), strict=True):
            previous = step[f"INPUT_RUNNING_{port}_DESC"]
            results[f"OUTPUT_RUNNING_{port}_DESC"] = graph.running(previous, current, momentum)
    return results


@operation("OPERATION_NORM_BWD", "DXDESC DSCALE_DESC DBIAS_DESC")
def normalization_backward(step: Step) -> Results:
    step.refuse_if_set("PEER_STAT_DESCS")
    mode, axes = _mode(step)
    x = step["XDESC"]
    found = graph.statistics(mode, x, axes, step.number("EPSILON_DESC"))
    mean, inv_variance = step.get("MEAN_DESC"), step.get("INV_VARIANCE_DESC")
    gradients = graph.normalize_backward(
        mode,
        step["DYDESC"],
        x,
        found.mean if mean is None else mean,
        found.inv_variance if inv_variance is None else inv_variance,
        step.get("SCALE_DESC"),
        axes,
    )
    return {"DXDESC": gradients.dx, "DSCALE_DESC": gradients.dscale, "DBIAS_DESC": gradients.dbias}


@operation(
    "OPERATION_BN_FINALIZE",
    "EQ_SCALE_DESC EQ_BIAS_DESC SAVED_MEAN_DESC SAVED_INV_STD_DESC "
    "UPDATED_RUNNING_MEAN_DESC UPDATED_RUNNING_VAR_DESC",
)
def finalize(step: Step) -> Results:
    if step.option("STATS_MODE", 0) != raw.CUDNN_BN_FINALIZE_STATISTICS_TRAINING:
        raise step.refused("only statistics of training are finalized")
    found = graph.finalize(
        step["Y_SUM_DESC"],
        step["Y_SQ_SUM_DESC"],
        step["SCALE_DESC"],
        step["BIAS_DESC"],
        int(step.number("ACCUM_COUNT_DESC")),
        step.number("EPSILON_DESC"),
    )
    results = {
        "EQ_SCALE_DESC": found.eq_scale,
        "EQ_BIAS_DESC": found.eq_bias,
        "SAVED_MEAN_DESC": found.mean,
        "SAVED_INV_STD_DESC": found.inv_variance,
    }
    if step.find("PREV_RUNNING_MEAN_DESC") is not None:
        momentum = step.number("EXP_AVERATE_FACTOR_DESC", 1.0)
        for port, current in zip(("MEAN", "VAR"), (found.mean, found.unbiased), strict=True):
            previous = step[f"PREV_RUNNING_{port}_DESC"]
            results[f"UPDATED_RUNNING_{port}_DESC"] = graph.running(previous, current, momentum)
    return results


@operation(
    "OPERATION_BN_BWD_WEIGHTS",
    "DBN_SCALE_DESC DBN_BIAS_DESC EQ_DY_SCALE_DESC EQ_X_SCALE_DESC EQ_BIAS",
)
def backward_weights(step: Step) -> Results:
    operands = ("DY_DESC", "X_DESC", "MEAN_DESC", "INVSTD_DESC", "BN_SCALE_DESC")
    found = graph.backward_weights(*(step[port] for port in operands))
    return {
        "DBN_SCALE_DESC": found.dscale,
        "DBN_BIAS_DESC": found.dbias,
        "EQ_DY_SCALE_DESC": found.eq_dy_scale,
        "EQ_X_SCALE_DESC": found.eq_x_scale,
        "EQ_BIAS": found.eq_bias,
    }


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


@operation("OPERATION_SOFTMAX", "YDESC STATS_DESC MAX_DESC SUM_EXP_DESC")
def softmax(step: Step) -> Results:
    found = graph.softmax(step["XDESC"], step.get("SINK_DESC"))
    unit = math.log(2) if step.option("STATS_LOG2", False) else 1.0
    return {
        "YDESC": found.y,
        "STATS_DESC": found.stats / unit,
        "MAX_DESC": found.maximum,
        "SUM_EXP_DESC": found.sum_exp,
    }


@operation("OPERATION_DIAGONAL_BAND_MASK", "YDESC")
def diagonal_band_mask(step: Step) -> Results:
    x = step["XDESC"]
    y = graph.diagonal_band_mask(
        x,
        step["BDESC"],
        comparison=raw.cudnnPointwiseMode_t(
            step.option("COMPARISON_MODE", raw.CUDNN_POINTWISE_CMP_GE)
        ),
        left_bound=step.get("LEFT_BOUND_DESC"),
        right_shift=step.get("SHIFT_RIGHT_BOUND_DESC"),
        seq_len_q=step.lengths("Q", x.shape[-2]),
        seq_len_kv=step.lengths("KV", x.shape[-1]),
    )
    return {"YDESC": y}


def _band(step: Step, rank: int) -> tuple[Any, Any]:
    """The lower bandwidth, and the number beyond the band."""
    if step.option("AXIS", rank - 1) % rank != rank - 1:
        raise step.refused("only band matrices along the last axis are carried out")
    return step.option("LOWER_BANDWIDTH", 0), step.option("PAD_VALUE", 0.0)


@operation("OPERATION_EXPAND_BAND_MATRIX", "YDESC")
def expand_band_matrix(step: Step) -> Results:
    step.refuse_if_set("KV_TOKEN_OFFSET_DESC", "SPECULATIVE_MASK_DESC")
    x, columns = step["XDESC"], step.shape("YDESC")[-1]
    return {"YDESC": graph.expand_band_matrix(x, columns, *_band(step, x.ndim))}


@operation("OPERATION_CONTRACT_BAND_MATRIX", "YDESC")
def contract_band_matrix(step: Step) -> Results:
    if Name.CUDNN_ATTR_OPERATION_CONTRACT_BAND_MAX_TOKEN_VALUE in step.record.values:
        raise step.refused("a largest token is not carried out")
    x, bands = step["XDESC"], step.shape("YDESC")[-1]
    return {"YDESC": graph.contract_band_matrix(x, bands, *_band(step, x.ndim))}


@operation("OPERATION_PAGED_CACHE_LOAD", "YDESC")
def paged_cache_load(step: Step) -> Results:
    y = step.tensor("YDESC")
    # Keys may be described as they enter the product: (b, h, d, s), still with d innermost.
    exchanged = y.strides[2] < y.strides[3]
    length = y.shape[3 if exchanged else 2]
    container, table = step["CONTAINER_DESC"], step["PAGE_TABLE_DESC"]
    lengths = step.sizes("SEQUENCE_DESC", length)
    assert lengths is not None
    loaded = graph.load_pages(container, table, lengths, length)
    return {"YDESC": loaded.swapaxes(2, 3) if exchanged else loaded}


@operation("OPERATION_ROPE_FWD", "YDESC")
def rope(step: Step) -> Results:
    y = graph.rope(step["XDESC"], step["FREQSDESC"], **_rope_options(step))
    return {"YDESC": y}


@operation("OPERATION_ROPE_BWD", "DXDESC")
def rope_backward(step: Step) -> Results:
    dx = graph.rope_backward(step["DYDESC"], step["FREQSDESC"], **_rope_options(step))
    return {"DXDESC": dx}


def _rope_options(step: Step) -> dict[str, Any]:
    return {"scale": step.option("OUTPUT_SCALE", 1.0), "rope_dim": step.option("ROPE_DIM")}


# --- moving elements -----------------------------------------------------------------------------


@operation("OPERATION_RESHAPE", "YDESC")
def reshape(step: Step) -> Results:
    x, y = step.tensor("XDESC"), step.tensor("YDESC")
    mode = step.option("MODE")
    known = None if mode is None else raw.cudnnBackendReshapeMode_t(mode)
    return {"YDESC": graph.reshape(step.moved("XDESC"), x.strides, y.dims, y.strides, known)}


@operation("OPERATION_TRANSPOSE", "YDESC")
def transpose(step: Step) -> Results:
    return {"YDESC": step.moved("XDESC").transpose(step.options("PERMUTATION"))}


@operation("OPERATION_SLICE", "YDESC")
def slices(step: Step) -> Results:
    x = step.moved("XDESC")
    steps = step.options("STRIDES") or (1,) * x.ndim
    start, limit = step.options("START_INDICES"), step.options("LIMIT_INDICES")
    return {"YDESC": graph.slices(x, start, limit, steps)}


@operation("OPERATION_CONCAT", "OUTPUT_DESC")
def concatenate(step: Step) -> Results:
    return {"OUTPUT_DESC": np.concatenate(step.listed("INPUT_DESCS"), step.option("AXIS", 0))}


# --- blocks --------------------------------------------------------------------------------------


@operation("OPERATION_BLOCK_SCALE_QUANTIZE", "YDESC SCALE_DESC")
def quantize(step: Step) -> Results:
    x, y, scale = step["XDESC"], step.tensor("YDESC"), step.tensor("SCALE_DESC")
    size = step.option("BLOCK_SIZE", 32)
    axis = graph.block_axis(x.shape, scale.shape, size)
    quantized, scales = graph.quantize(x, size, axis, y.dtype, scale.dtype)
    padding = [(0, full - part) for full, part in zip(scale.shape, scales.shape, strict=True)]
    padded = np.pad(scales, padding, constant_values=2.0**-127)  # zeros, in bytes
    return {"YDESC": quantized, "SCALE_DESC": padded}


@operation("OPERATION_BLOCK_SCALE_DEQUANTIZE", "YDESC")
def dequantize(step: Step) -> Results:
    if step.option("NEG_SCALE", False):
        raise step.refused("negative scales are not carried out")
    sizes = step.options("BLOCK_SIZE")
    return {"YDESC": graph.dequantize(step["XDESC"], step["SCALE_DESC"], sizes)}


# --- random numbers ------------------------------------------------------------------------------


@operation("OPERATION_RNG", "YDESC")
def random(step: Step) -> Results:
    inner, shape = step.inner("DESC"), step.shape("YDESC")
    given = step.option("SEED", 0)
    seed = int(step.number("SEED") if isinstance(given, Record) else given)
    offset = int(step.number("OFFSET_DESC"))
    match raw.cudnnRngDistribution_t(inner.one("RNG_DISTRIBUTION", 0)):
        case raw.CUDNN_RNG_DISTRIBUTION_BERNOULLI:
            probability = inner.one("RNG_BERNOULLI_DIST_PROBABILITY", 0.5)
            y = graph.bernoulli(shape, probability, seed, offset)
        case raw.CUDNN_RNG_DISTRIBUTION_UNIFORM:
            low = inner.one("RNG_UNIFORM_DIST_MINIMUM", 0.0)
            high = inner.one("RNG_UNIFORM_DIST_MAXIMUM", 1.0)
            y = graph.uniform(shape, low, high, seed, offset)
        case _:
            mean = inner.one("RNG_NORMAL_DIST_MEAN", 0.0)
            spread = inner.one("RNG_NORMAL_DIST_STANDARD_DEVIATION", 1.0)
            y = graph.normal(shape, mean, spread, seed, offset)
    return {"YDESC": y}


_GROWTH = 1 / 16  # blocks are larger than tiles: each step takes some time for each of them
_QUERIES = 2  # their axis

Role = tuple[TensorInfo, int | None]  # a tensor, and the axis along which a part is enough


@dataclass
class _Division:
    """The steps that can be carried out for a part of an axis of the scores.

    - `roles`: of their tensors, by unique id.
    - `sums`: unique ids of results that are sums over the parts.
    """

    inside: list[Step] = field(default_factory=list)
    roles: dict[int, Role] = field(default_factory=dict)
    sums: set[int] = field(default_factory=set)

    @property
    def products(self) -> list[Step]:
        return [step for step in self.inside if step.name == "matmul"]


def evaluate_in_blocks(steps: Sequence[Step], negated: frozenset[int]) -> list[int]:
    """`evaluate` for attention: what follows from the first product is computed block by block."""
    scores = next(step.tensor("CDESC").dims for step in steps if step.name == "matmul")
    found = {axis: _divided(steps, axis, size) for axis, size in enumerate(scores[:3]) if size > 1}
    whole = next((each for each in found.values() if each.inside), _Division())
    by_queries = found.get(_QUERIES, whole)
    chosen = by_queries if by_queries.products == whole.products else whole
    inside, sums = chosen.inside, chosen.sums
    divisions = {
        axis: each.roles
        for axis, each in found.items()
        if each is chosen or (axis != _QUERIES and all(step in each.inside for step in inside))
    }
    results = _written(inside)
    after = _after(steps, inside)
    outputs = evaluate([step for step in steps if step not in (*inside, *after)], negated)
    if inside:
        for step in inside:
            load_operands(step, results.keys())
        kept = {info.uid for step in after for info in step.reads}
        kept |= {uid for uid, info in results.items() if not info.virtual}
        known = inside[0].values
        wholes = {
            uid: np.zeros(info.shape) if uid in sums else np.empty(info.shape, info.dtype)
            for uid, info in results.items()
            if uid in kept
        }
        ends = _last_reads(inside, wholes)
        parts: dict[tuple[int, ...], list[Step]] = {}  # by the sizes of a block
        tensors = [info for step in inside for info in step.reads] + [*results.values()]
        for block in tiles(np.broadcast_to(np.False_, scores), divisions, _GROWTH):
            places = {info.uid: _place(info, block, divisions) for info in tensors}
            sizes = _sizes(block, scores)
            if sizes not in parts:
                parts[sizes] = _parts(inside, places, sums)
            values = _evaluate_block(inside, parts[sizes], negated, places, block, ends)
            for uid, whole_result in wholes.items():
                if uid in sums:
                    whole_result[places[uid]] += values[uid][1]
                else:
                    whole_result[places[uid]] = values[uid][1]
        known |= {uid: (results[uid], rounded(x, results[uid], None)) for uid, x in wholes.items()}
        outputs += [uid for uid, info in results.items() if not info.virtual]
    return outputs + evaluate(after, negated)


def _place(info: TensorInfo, block: Tile, divisions: Mapping[int, Mapping[int, Role]]) -> Tile:
    """The part of a tensor in a block of the scores."""
    place = [slice(None)] * len(info.dims)
    for axis, roles in divisions.items():
        along = roles[info.uid][1]
        if along is not None:
            place[along] = block[axis]
    return tuple(place)


def _parts(steps: Sequence[Step], places: dict[int, Tile], sums: set[int]) -> list[Step]:
    """The steps for the parts of their tensors at `places`, or parts of the same sizes."""
    tensors = [info for step in steps for info in (*step.reads, *_written([step]).values())]
    overrides = {info.uid: (_sizes(places[info.uid], info.dims), info.strides) for info in tensors}
    values: Values = {}
    return [step.part(values, overrides, sums) for step in steps]


def _evaluate_block(
    steps: Sequence[Step],
    parts: Sequence[Step],
    negated: frozenset[int],
    places: dict[int, Tile],
    block: Tile,
    ends: Sequence[set[int]],
) -> Values:
    """The operands and results of the parts of `steps` at `places`, without those at `ends`."""
    values = parts[0].values
    values.clear()
    for step, part in zip(steps, parts, strict=True):
        part.starts = tuple(own.start or 0 for own in block)
        for info, cut in zip(step.reads, part.reads, strict=True):
            if info.uid in step.values:
                values[info.uid] = (cut, step.elements(info)[places[info.uid]])
    for part, read in zip(parts, ends, strict=True):
        evaluate([part], negated)
        for uid in read:
            del values[uid]
    return values


def _last_reads(steps: Sequence[Step], kept: Container[int]) -> list[set[int]]:
    """The tensors that no step after each step reads, and that are not `kept`."""
    later: set[int] = set()
    ends = []
    for step in reversed(steps):
        read = {info.uid for info in step.reads} - later
        ends.append({uid for uid in read if uid not in kept})
        later |= read
    return ends[::-1]


def _sizes(place: Tile, dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(len(range(*own.indices(size))) for own, size in zip(place, dims, strict=True))


def _written(steps: Sequence[Step]) -> dict[int, TensorInfo]:
    return {info.uid: info for step in steps for _, info in step.writes}


def _after(steps: Sequence[Step], inside: Sequence[Step]) -> list[Step]:
    """The steps that need results of others, whole."""
    results, after = set(_written(inside)), []
    for step in steps:
        if step not in inside and any(info.uid in results for info in step.reads):
            results |= _written([step]).keys()
            after.append(step)
    return after


def _divided(steps: Sequence[Step], axis: int, size: int) -> _Division:
    """The steps, from the first product on, that can be carried out for a part of an axis."""
    found = _Division()
    results: set[int] = set()
    late: set[int] = set()
    for step in steps:
        read = {info.uid for info in step.reads}
        if (depends := read & (results | late)) or step.name == "matmul":
            roles = {} if read & late else _roles(step, axis, size, found.roles)
            written = _written([step]).keys()
            if roles:
                found.inside.append(step)
                found.roles |= roles
                if step.name == "matmul" and roles[step.tensor("CDESC").uid][1] is None:
                    found.sums |= written
                    late |= written
                else:
                    results |= written
            elif depends or not found.inside:
                late |= written
    return found


def _roles(step: Step, axis: int, size: int, known: Mapping[int, Role]) -> dict[int, Role]:
    """The roles of a step's tensors if it can be carried out for a part of the axis; else none."""
    written = _written([step])
    roles: dict[int, Role] = {}
    for info, along in _along(step, axis, known):
        if len(info.dims) != 4 or info.vector_count != 1:
            return {}
        if along is not None and info.dims[along] != size:
            if info.dims[along] != 1 or info.uid in written:
                return {}
            along = None  # it broadcasts
        role = info, along
        if roles.get(info.uid, role) != role or known.get(info.uid, role) != role:
            return {}
        roles[info.uid] = role
    return roles


def _along(
    step: Step, axis: int, known: Mapping[int, Role]
) -> Iterable[tuple[TensorInfo, int | None]]:
    """A step's tensors with the axis that holds the scores' axis; none if that cannot be told."""
    tensors = [*step.reads, *_written([step]).values()]
    among = {known[info.uid][1] for info in step.reads if info.uid in known} - {None}
    along = among.pop() if among else axis
    if any(len(info.dims) != 4 for info in tensors):
        return []
    if step.name == "matmul":
        a, b, c = (step.tensor(port) for port in ("ADESC", "BDESC", "CDESC"))
        if any(step.find(f"GEMM_{each}_OVERRIDE_DESC") for each in "MNK"):
            return []
        if axis != _QUERIES:
            return [(a, axis), (b, axis), (c, axis)]
        by_rows = known.get(a.uid, (a, _QUERIES))[1] == _QUERIES
        return zip((a, b, c), (2, None, 2) if by_rows else (3, 2, None), strict=True)
    if step.name == "reshape":
        x, y = step.tensor("XDESC"), step.tensor("YDESC")
        if along is None or step.option("MODE") is not None:
            return []
        alike = [
            i for i in range(4) if (y.dims[i], y.strides[i]) == (x.dims[along], x.strides[along])
        ]
        return [(x, along), (y, along if along in alike else alike[0])] if alike else []
    if among or step.name not in ("pointwise", "reduction"):
        return []
    return [(info, along) for info in tensors]
