"""Known faults of cuDNN as data: the class of a row, and how rows are looked up.

Rows about graphs stand in ``graph/lower/faults/``, rows about C calls in `calls`.
`cudnn_ctypes.known_faults` enumerates both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, Protocol

from ...errors import FaultWarning, NotSupportedError, OwnReason
from ..enums import cudnnStatus_t
from ..host_blocks import warn
from ..library import version_text

Effect = Literal[
    "ends the process",
    "loses the CUDA context",
    "leaves the memory",  # reads or writes beyond its end
    "wrong numbers",
    "NaN",
    "not named",  # somebody refuses it, and does not say why
    "refuses what is right",
    "does not end",
    "slow",
]
Status = Literal["measured", "reported", "not reproduced"]


class Target(Protocol):
    """A cuDNN and a GPU: 91900 and 90, or 0 for some GPU; and whether the machine has another.

    `small` is whether this build of cuDNN has no precompiled engines.
    """

    @property
    def version(self) -> int: ...
    @property
    def capability(self) -> int: ...
    @property
    def beside_another(self) -> bool: ...
    @property
    def small(self) -> bool: ...


class Range(NamedTuple):
    """Versions of cuDNN and GPUs that have a fault.

    Attributes
    ----------
    since : int
        The first version that may have it, as ``cudnnGetVersion`` tells it: the one in which it was
        seen, or an older one that was not tried, where none after that was seen without it.
    capabilities : tuple of int
        Compute capabilities of the GPUs on which it was seen.
    repaired : int, optional
        The first version that is known to be without it.
    modes : tuple of str
        Modes of heuristics that have it; the others are asked. Empty: all.
    sometimes : bool
        Whether it shows in some processes only: on addresses, say.
    small : bool
        Whether only builds of cuDNN without precompiled engines have it (``nvidia-cudnn-jit``).
    engines : tuple of int
        The engines that have it. Empty: whatever cuDNN takes.
    spared : tuple of int
        Values of the knob ``kernel_cfg`` with which these engines are right, as they then are by
        default. Empty: they never are.
    """

    since: int
    capabilities: tuple[int, ...] = (90,)
    repaired: int | None = None
    modes: tuple[str, ...] = ()
    sometimes: bool = False
    small: bool = False
    engines: tuple[int, ...] = ()
    spared: tuple[int, ...] = ()

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.since <= version < (self.repaired or version + 1)

    def holds(self, version: int | None, capability: int | None, *, small: bool) -> bool:
        """Whether a cuDNN has it on a GPU; None is any.

        What has engines holds on all GPUs, since other engines take their place.
        """
        return (
            (version is None or version in self)
            and (small or not self.small)
            and (bool(self.engines) or capability in (None, *self.capabilities))
        )

    def __str__(self) -> str:
        end = "and newer" if self.repaired is None else f"to before {version_text(self.repaired)}"
        gpus = ", ".join(f"{each // 10}.{each % 10}" for each in self.capabilities)
        modes = f", modes {', '.join(self.modes)}" if self.modes else ""
        sometimes = ", in some processes" if self.sometimes else ""
        small = ", without precompiled engines" if self.small else ""
        return f"{version_text(self.since)} {end} on GPUs of {gpus}{modes}{sometimes}{small}"


@dataclass(frozen=True)
class Evidence:
    """Who saw a fault, where, and what.

    Attributes
    ----------
    status : {"measured", "reported", "not reproduced"}
        Measured by us; or told by others; or told by others, tried by us and not seen.
    gpu, versions, cases : str
        Of our measurement: "H200", "9.14, 9.19", "11 of 13 graphs".
    tracker : str
        Who tells of it: "pytorch 196678" is an issue, by project and number.
    seen : str
        What was seen, and what is right beside it.
    """

    status: Status
    gpu: str = ""
    versions: str = ""
    cases: str = ""
    tracker: str = ""
    seen: str = ""

    @property
    def brief(self) -> str:
        """Without what was seen."""
        cudnn = f"cuDNN {self.versions}" if self.versions else ""
        told = ", ".join(filter(None, (self.gpu, cudnn, self.cases)))
        joint = ", told by " if self.status == "not reproduced" else " by "
        by = f"{joint}{self.tracker}" if self.tracker else ""
        return f"{self.status}{by}{': ' if told else ''}{told}"

    def __str__(self) -> str:
        return f"{self.brief}. {self.seen}" if self.seen else self.brief


@dataclass(frozen=True)
class Fault:
    """One known fault of cuDNN.

    The engines of a range are passed over; they can still be chosen by name. Where a range has
    modes, these modes of heuristics are not asked. A row of a graph with neither is refused, or
    built with a warning if the fault depends on the data. A row applies only to versions and GPUs
    in its ranges, but one with engines to all GPUs, since other engines take their place. What is
    slow, refused though right, was not reproduced, or has another form is only told of. Of C
    functions the guards of layer 1 warn, if the descriptors alone show the fault.

    Attributes
    ----------
    name : str
    calls : tuple of str
        The C functions that have it, "cudnnSoftmaxForward"; of a row about graphs the methods of
        `Graph` that take part in it, "sdpa".
    effect : Effect
    fault : str
        What goes wrong, as a clause: "cuDNN gives wrong numbers for bfloat16".
    where : callable
        From a graph (`graph.lower.faults.Graph`) or a C call (`calls.Call`) to what of the user's
        has the fault, in words; "" if nothing has.
    ranges : tuple of Range
    evidence : tuple of Evidence
    remedy : str
        What the user does instead: "build two graphs".
    data : str
        The data with which alone it shows; a build then warns.
    form : str
        How this package describes such a graph to cuDNN instead, so that it is computed right.
    beforehand : bool
        Whether a small graph computes the operand beforehand; what is left has the fault.
    beside_another : bool
        Whether it is only where the GPU is known by its properties, on a machine with another one.

    For an example see `known_faults`.
    """

    name: str
    calls: tuple[str, ...]
    effect: Effect
    fault: str
    where: Callable[[Any], str]
    ranges: tuple[Range, ...]
    evidence: tuple[Evidence, ...]
    _: KW_ONLY
    remedy: str = ""
    data: str = ""
    form: str = ""
    beforehand: bool = False
    beside_another: bool = False

    def ranges_at(self, target: Target) -> tuple[Range, ...]:
        """The ranges with the cuDNN and GPU of `target`; empty if the fault is not known there."""
        return self._ranges_of(target) if self._is_beside(target) else ()

    def _is_beside(self, target: Target) -> bool:
        return not self.beside_another or target.beside_another

    def _ranges_of(self, target: Target) -> tuple[Range, ...]:
        return tuple(
            each
            for each in self.ranges
            if each.holds(target.version, target.capability or None, small=target.small)
        )

    @property
    def engines(self) -> tuple[int, ...]:
        """The engines that have it, in one version or another."""
        return _engines_of(self.ranges)

    @property
    def reported(self) -> bool:
        """Whether others tell of it, and we did not measure it."""
        return all(each.status != "measured" for each in self.evidence)

    @property
    def only_told(self) -> bool:
        """Whether nothing is refused for it, passed over or warned of."""
        seen = any(each.status != "not reproduced" for each in self.evidence)
        harmless = not seen or self.form or self.effect in ("refuses what is right", "slow")
        return bool(harmless) or bool(self.data and self.of_c)

    @property
    def refused(self) -> bool:
        """Whether layer 1 refuses the call, since nothing of the GPU can be used after it."""
        lost = self.effect in ("loses the CUDA context", "ends the process")
        return self.of_c and lost and not self.only_told

    @property
    def of_c(self) -> bool:
        """Whether it is a fault of C functions, not of graphs."""
        return any(name.startswith("cudnn") for name in self.calls)

    @property
    def treatment(self) -> str:
        """The way in which this package heeds it."""
        if self.form:
            return f"computes it right, {self.form}"
        passed = f"passes over {_named(self.engines)}" if self.engines else ""
        if spared := sorted({kernel for each in self.ranges for kernel in each.spared}):
            passed += f", but for its default and kernel_cfg {', '.join(map(str, spared))}"
        if self.beforehand:
            also = passed or "refuses"
            return f"computes the operand beforehand; where shapes may change, {also}"
        if self.only_told:
            return "tells of it"
        if self.refused:
            return "refuses the call"
        if self.of_c:
            return "warns when layer 1 calls it"
        if passed:
            return passed
        if self.data:
            return "warns"
        modes = all(each.modes for each in self.ranges)
        return "does not ask these modes of heuristics" if modes else "refuses"

    @property
    def facts(self) -> dict[str, str]:
        """The row's statements in words, by their kind."""
        several = len({each.engines for each in self.ranges}) > 1
        facts = {
            "effect": self.effect if self.effect in self.fault else f"{self.effect}: {self.fault}",
            "only where": self.data,
            "calls": ", ".join(self.calls),
            "cuDNN": "; ".join(
                f"{each}, {_named(each.engines)}" if several else str(each) for each in self.ranges
            ),
            "cudnn_ctypes": self.treatment,
            "remedy": self.remedy,
            "evidence": "; ".join(map(str, self.evidence)),
        }
        return {name: text for name, text in facts.items() if text}

    def __str__(self) -> str:
        return "\n".join(f"{name + ':':14}{text}" for name, text in self.facts.items())

    def mentions(self, words: Sequence[str]) -> bool:
        """Whether it has all of these words in lower case, of which "known faults" are two."""
        text = f"known faults {self.name} {self}".lower()
        return bool(words) and all(word in text for word in words)


def _engines_of(ranges: Iterable[Range]) -> tuple[int, ...]:
    return tuple(sorted({engine for each in ranges for engine in each.engines}))


def _named(engines: Iterable[int]) -> str:
    return f"engine {', '.join(map(str, engines))}"


class Finding(NamedTuple):
    """A row that concerns a graph or a call: the part that has the fault, and the row's ranges."""

    fault: Fault
    place: str
    ranges: tuple[Range, ...]

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes of heuristics that have it; empty: all."""
        some = all(each.modes for each in self.ranges)
        return tuple(mode for each in self.ranges for mode in each.modes) if some else ()

    @property
    def engines(self) -> tuple[int, ...]:
        """The engines that have it here, if only with some of their kernels."""
        return _engines_of(self.ranges)

    def has(self, engine: int, kernel: int | None = None) -> bool:
        """Whether an engine has it with this value of ``kernel_cfg``; None: by default."""
        return any(
            engine in each.engines and not (each.spared and kernel in (None, *each.spared))
            for each in self.ranges
        )

    @property
    def refuses(self) -> bool:
        """Whether nothing is left that has not the fault."""
        fault = self.fault
        return not (self.engines or self.modes or fault.data or fault.only_told)

    @property
    def message(self) -> str:
        fault = self.fault
        data = f" where {fault.data}" if fault.data else ""
        remedy = f"; {fault.remedy}" if fault.remedy else ""
        seen = fault.evidence[0].brief
        return f"{self.place}: {fault.fault}{data}{remedy} (known fault {fault.name!r}, {seen})"

    @property
    def told(self) -> str:
        """The row with all its evidence, for whoever wants to know."""
        fault = self.fault
        evidence = "; ".join(map(str, fault.evidence))
        remedy = f"; remedy: {fault.remedy}" if fault.remedy else ""
        return f"{fault.effect}, {self.place}: cudnn_ctypes {fault.treatment}{remedy}; {evidence}"


def findings(rows: Iterable[Fault], subject: Any, target: Target) -> list[Finding]:
    """The rows that concern a graph or a call, with this cuDNN on this GPU."""
    return [
        Finding(row, place, ranges)
        for row in rows
        if (ranges := row._ranges_of(target))
        and (place := row.where(subject))
        and row._is_beside(target)  # asked last: it loads the driver
    ]


def heed(function: str, found: Iterable[Finding]) -> None:
    """Refuse what is always wrong, in the name of `function`; warn of what some data show.

    Raises NotSupportedError with the rows, their remedies and who saw them.
    """
    found = list(found)
    if refusals := tuple(each.message for each in found if each.refuses):
        status = cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED
        raise NotSupportedError(function, status, messages=refusals, source=OwnReason.source)
    for each in found:
        if each.fault.data and not each.fault.only_told:
            warn(each.message, FaultWarning)
