"""Two results of one program held against each other.

Values, NaN and what must not be written are compared exactly; of statuses whether a call succeeds,
as which of several broken rules is told is open. A number may be off by four roundings of its type,
two of what it held before times beta, and by the roundoff of what is computed in, times the number
of terms, of the largest element. Where that is not enough `Spread` decides: what the roundoff of
all operands does to the result on the reference device, eight times. One integer of fifty may be
off by one: roundoff decides ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .freedoms import freedom
from .machine import TOO_LARGE, Result
from .program import numbers_of

__all__ = ["Difference", "differences", "spread"]

_STORED = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
_FACTOR = 8  # times what rounding the operands does


@dataclass(frozen=True)
class Difference:
    """One thing that differs.

    Attributes
    ----------
    kind : str
        "status", "value", "number", "NaN", "written", "bits", "died" or "lost".
    where : str
        Of an operand or function; the same for the same fault.
    text : str
    """

    kind: str
    where: str
    text: str

    @property
    def decided_by_rounding(self) -> bool:
        """Whether the spread of the result may explain it."""
        return self.kind in ("number", "NaN")

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.text}"


def differences(
    program: Any, one: Result, other: Result, spreads: Mapping[str, NDArray[Any]] | None = None
) -> list[Difference]:
    """What differs between the reference's result and another device's."""
    found = list(_statuses(program, one, other))
    if found and not program.statuses_compared:
        return []
    if not found and one.statuses == other.statuses:
        found += _values(program, one, other)
    if not found and one.succeeded and other.succeeded:
        found += _numbers(program, one, other, spreads or {})
    last = program.steps[-1][0] if program.steps else "the program"
    for device, result in (("reference", one), ("device", other)):
        if not (one.succeeded and other.succeeded):
            break
        # What both write alike belongs to a descriptor that is drawn wrong and not used.
        if one.trespass != other.trespass:
            found += [Difference("written", device, text) for text in result.trespass]
        for name in result.unsteady:
            functions = [function for function, _ in program.steps]
            free = name in program.operands and program.operands[name].free
            if not (free or any(freedom(function, "bits", name) for function in functions)):
                found.append(Difference("bits", name, f"two runs of {last} differ"))
    if other.faults:  # they explain whatever is computed, and why the reference refuses a call
        failed = bool(other.statuses) and other.statuses[-1][1].startswith("EXECUTION_FAILED")
        refused = one.succeeded and not (other.succeeded or failed or other.refused)
        found = [each for each in found if each.kind == "status" and refused]
    return found


def _statuses(program: Any, one: Result, other: Result) -> Iterator[Difference]:
    for mine, theirs in zip(one.statuses, other.statuses, strict=False):
        if TOO_LARGE in (mine[1], theirs[1]) or theirs[1].startswith("SymbolNotFoundError"):
            return
        if mine != theirs:
            refused = "SUCCESS" not in (mine[1], theirs[1])
            if refused or freedom(mine[0], "status", f"{mine[1]} {theirs[1]}"):
                return
            wrong = program.draw.wrong
            if wrong and freedom(mine[0], "scratch", wrong):
                return
            if theirs[1] == "SUCCESS" and wrong and freedom(mine[0], "misuse", wrong):
                return
            yield Difference("status", mine[0], f"reference {mine[1]}, device {theirs[1]}")
            return
    if len(one.statuses) != len(other.statuses):
        yield Difference("status", "steps", f"{one.statuses} and {other.statuses}")


def _values(program: Any, one: Result, other: Result) -> Iterator[Difference]:
    for name, value in one.values.items():
        number, _, parameter = name.partition(".")
        function = program.steps[int(number)][0] if number.isdigit() else ""
        if value != other.values.get(name) and not freedom(function, "value", parameter):
            yield Difference(
                "value", f"{function} {parameter}", f"{value}, {other.values.get(name)}"
            )


def _numbers(
    program: Any, one: Result, other: Result, spreads: Mapping[str, NDArray[Any]]
) -> Iterator[Difference]:
    functions = [function for function, _ in program.steps]
    if program.draw.wrong.startswith("enumerator"):  # which of them cuDNN takes is open
        return
    for name, exact in one.outputs.items():
        found = other.outputs[name]
        operand = program.operands.get(name)
        if operand is not None and operand.free:
            continue
        if any(freedom(function, "number", name) for function in functions):
            continue
        free = exact.dtype.kind in "iu" or any(freedom(f, "specials", name) for f in functions)
        if free and _holds(program, "specials"):  # no integer stands for NaN
            continue
        overflows = any(freedom(f, "overflow", name) for f in functions)
        if overflows and _sums_in_halves(program) and _holds(program, "large"):
            continue
        fast = any("CUDNN_SOFTMAX_FAST" in map(str, given.values()) for _, given in program.steps)
        if fast and _holds(program, "large"):  # it takes exponentials of the scores as they are
            continue
        if exact.tobytes() == found.tobytes():
            continue
        limit = one.limits.get(name)
        yield from _array(program, name, exact, found, spreads.get(name), limit)


def _holds(program: Any, content: str) -> bool:
    """Whether an operand holds such numbers; "specials" are NaN and infinity."""
    return any(operand.content == content for operand in program.operands.values())


def _sums_in_halves(program: Any) -> bool:
    """Whether the compute type of a convolution is HALF."""
    convolutions = [each for each in program.descriptors.values() if each.kind == "Convolution"]
    setters = [arguments for each in convolutions for _, arguments in each.setters]
    return any("CUDNN_DATA_HALF" in arguments for arguments in setters)


def _array(
    program: Any,
    name: str,
    exact: NDArray[Any],
    found: NDArray[Any],
    spread: Any,
    limit: NDArray[Any] | None,
) -> Iterator[Difference]:
    if exact.shape != found.shape or exact.dtype != found.dtype:
        yield Difference("number", name, f"{exact.dtype}{exact.shape}, {found.dtype}{found.shape}")
        return
    kind = str(exact.dtype)
    mine, theirs = exact.astype(np.float64), found.astype(np.float64)
    undecided = np.zeros(exact.shape, bool)
    allowed = np.zeros(exact.shape)
    if spread is not None:
        undecided = np.isnan(spread)
        allowed = allowed + _FACTOR * np.nanmax(spread, initial=0.0)
    odd = np.isnan(mine) != np.isnan(theirs)
    if (odd & ~undecided).any():
        where = tuple(int(i) for i in np.argwhere(odd & ~undecided)[0])
        yield Difference(
            "NaN", name, f"{(odd & ~undecided).sum()} of {odd.size}: {mine[where]}, "
            f"{theirs[where]} at {where}",
        )  # fmt: skip
        return
    with np.errstate(all="ignore"):
        finite = np.isfinite(mine)
        scale = float(np.abs(mine[finite]).max(initial=0))
        if limit is not None:
            roundings = 4 * _STORED.get(kind, 0.0) * np.abs(np.where(finite, mine, 0))
            allowed = np.broadcast_to(limit, exact.shape) + roundings
        elif kind in _STORED:
            info = ml_dtypes.finfo(exact.dtype)
            allowed = allowed + 4 * _STORED[kind] * np.abs(np.where(finite, mine, 0))
            parts = program.operands[name].magnitude if name in program.operands else 0.0
            parts = max(scale, program.magnitude, parts)
            allowed = allowed + program.unit * _steps(program) * parts
            allowed = allowed + 2 * _STORED[kind] * _blended(program, name)
            allowed = allowed + 2 * max(float(info.smallest_normal) * 2.0**-8, 2.0**-149)
            largest = float(info.max) * 0.999  # rounding decides whether it overflows
            mine, theirs = np.clip(mine, -largest, largest), np.clip(theirs, -largest, largest)
        error = np.abs(mine - theirs)
        bad = (error > allowed) & ~undecided & ~np.isnan(mine)
    ties = exact.dtype.kind in "iu" and (error <= 1).all() and bad.sum() <= max(1, bad.size // 50)
    if bad.any() and not ties:
        where = tuple(int(i) for i in np.argwhere(bad & (error == error[bad].max()))[0])
        limit = float(np.broadcast_to(allowed, bad.shape)[where])
        numbers = f"{mine[where]:.7g} and {theirs[where]:.7g} at {where}, allowed {limit:.1e}"
        yield Difference("number", name, f"{bad.sum()} of {bad.size} wrong, {numbers}")


def _steps(program: Any) -> float:
    """Roundoffs that a result may be off by, of its largest element.

    Of a fine unit as many as there are terms; errors of a coarse one average out, and are looked
    at more closely by `spread`.
    """
    equal = any(operand.content == "constant" for operand in program.operands.values())
    if program.unit < 2.0**-18 or equal:  # roundings of equal terms do not
        return float(64 + program.terms)
    return 8 + float(program.terms) ** 0.5


def _blended(program: Any, name: str) -> Any:
    """What an output held times beta: some kernels round the result before they add it."""
    operand = program.operands.get(name)
    beta = program.steps[-1][1].get("beta")
    if operand is None or not isinstance(beta, float) or operand.content == "poison":
        return 0.0
    with np.errstate(all="ignore"):
        prior = numbers_of(operand, program.elements(name), program.draw.seed)
    return abs(beta) * np.nan_to_num(np.abs(prior.astype(np.float64)))


def spread(plain: Result, wobbled: Sequence[Result]) -> dict[str, NDArray[Any]]:
    """How far each number moves when the operands are rounded otherwise; NaN if undecided."""
    result = {}
    for name, array in plain.outputs.items():
        wide = array.astype(np.float64)
        largest = np.zeros(array.shape)
        with np.errstate(all="ignore"):
            for each in wobbled:
                if name not in each.outputs:
                    continue
                moved = each.outputs[name].astype(np.float64)
                same = (moved == wide) | (np.isnan(moved) & np.isnan(wide))
                largest = np.maximum(largest, np.where(same, 0, np.abs(moved - wide)))
        largest[np.isinf(largest)] = np.nan
        result[name] = largest
    return result
