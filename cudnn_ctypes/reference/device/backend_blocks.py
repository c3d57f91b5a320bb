"""Attention in blocks of batches, heads and queries: memory for the scores of some queries."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from ..tiles import Tile, tiles
from .backend_steps import Step, Values, evaluate, load_operands
from .backend_tensors import TensorInfo

_GROWTH = 1 / 16  # blocks are larger than tiles: each step takes some time for each of them
_QUERIES = 2  # their axis

Roles = dict[int, tuple[TensorInfo, bool]]  # tensors, and whether a part is enough, by unique id


def evaluate_in_blocks(steps: Sequence[Step], negated: frozenset[int]) -> list[int]:
    """`evaluate` for attention: what follows from the first product is computed block by block."""
    scores = next(step.tensor("CDESC").dims for step in steps if step.name == "matmul")
    found = {axis: _divided(steps, axis, size) for axis, size in enumerate(scores[:3]) if size > 1}
    inside = next((inside for inside, _ in found.values() if inside), [])
    roles = {axis: roles for axis, (divided, roles) in found.items() if divided == inside}
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
            uid: np.empty(info.shape, info.dtype) for uid, info in results.items() if uid in kept
        }
        ends = _last_reads(inside, wholes)
        parts: dict[tuple[int, ...], list[Step]] = {}  # by the sizes of a block
        for block in tiles(np.broadcast_to(np.False_, scores), roles, _GROWTH):
            places = {
                uid: tuple(
                    block[axis] if axis in roles and roles[axis][uid][1] else slice(None)
                    for axis in range(len(info.dims))
                )
                for uid, (info, _) in next(iter(roles.values())).items()
            }
            sizes = _sizes(block, scores)
            if sizes not in parts:
                parts[sizes] = _parts(inside, places)
            values = _evaluate_block(inside, parts[sizes], negated, places, block, ends)
            for uid, whole in wholes.items():
                whole[places[uid]] = values[uid][1]
        known |= {uid: (results[uid], whole) for uid, whole in wholes.items()}
        outputs += [uid for uid, info in results.items() if not info.virtual]
    return outputs + evaluate(after, negated)


def _parts(steps: Sequence[Step], places: dict[int, Tile]) -> list[Step]:
    """The steps for the parts of their tensors at `places`, or parts of the same sizes."""
    tensors = [info for step in steps for info in (*step.reads, *_written([step]).values())]
    overrides = {info.uid: (_sizes(places[info.uid], info.dims), info.strides) for info in tensors}
    values: Values = {}
    return [step.part(values, overrides) for step in steps]


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


def _divided(steps: Sequence[Step], axis: int, size: int) -> tuple[list[Step], Roles]:
    """The steps, from the first product on, that can be carried out for a part of an axis."""
    inside: list[Step] = []
    divided: Roles = {}
    results: set[int] = set()
    late: set[int] = set()
    for step in steps:
        read = {info.uid for info in step.reads}
        if (depends := read & (results | late)) or step.name == "matmul":
            roles = {} if read & late else _roles(step, axis, size)
            same = all(divided.get(uid, role) == role for uid, role in roles.items())
            if roles and same:
                inside.append(step)
                divided |= roles
                results |= _written([step]).keys()
            elif depends or not inside:
                late |= _written([step]).keys()
    return inside, divided


def _roles(step: Step, axis: int, size: int) -> Roles:
    """The roles of a step's tensors if it can be carried out for a part of the axis; else none."""
    whole = None
    if step.name == "matmul":
        if any(step.find(f"GEMM_{each}_OVERRIDE_DESC") for each in "MNK"):
            return {}
        whole = step.tensor("BDESC") if axis == _QUERIES else None
    elif step.name == "reshape":
        x, y = step.tensor("XDESC"), step.tensor("YDESC")
        if axis == _QUERIES or step.option("MODE") is not None or len(x.dims) != len(y.dims):
            return {}
        if (x.dims[axis], x.strides[axis]) != (y.dims[axis], y.strides[axis]):
            return {}
    elif step.name not in ("pointwise", "reduction"):
        return {}
    written = _written([step])
    roles: Roles = {}
    for info in (*step.reads, *written.values()):
        if len(info.dims) != 4 or info.vector_count != 1:
            return {}
        part = info.dims[axis] == size and info != whole
        one = info.dims[axis] == 1 and info.uid not in written
        if not (part or one or info == whole) or roles.get(info.uid, (info, part)) != (info, part):
            return {}
        roles[info.uid] = (info, part)
    return roles
