"""Which engine configs may carry out a graph: by their notes, memory, determinism and engine."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ... import raw
from ...arguments import enumerator, flag, integer, suggestion
from ...errors import CrashError, OwnReason
from ...raw import cudnnStatus_t
from ...raw.ctypes_support import short_name
from ..backend.engine import EngineChoice

if TYPE_CHECKING:
    from ..backend.engine import EngineConfig
    from ..lower.faults import Faults


def _names(cls: Any) -> frozenset[str]:
    return frozenset(short_name(note) for note in cls if not note.is_count)


NUMERICAL_NOTES = _names(raw.cudnnBackendNumericalNote_t)
"""Short names of all notes on what an engine does to the numbers."""

BEHAVIOR_NOTES = _names(raw.cudnnBackendBehaviorNote_t)
"""Short names of all notes on how an engine behaves."""


@dataclass(frozen=True)
class Crash:
    """A crash: what ended a process, or hung it, when cuDNN was asked about a graph.

    `step` and `signal` are those of `CrashError`; `message` is the last that cuDNN, or the process,
    said. A mode of heuristics, or an engine, is there if one was asked. `graph` stands for the
    graph with its sizes.
    """

    step: str
    signal: str
    message: str = ""
    mode: str = ""
    engine: int | None = None
    knobs: Mapping[str, int] = field(default_factory=dict)
    graph: str = ""
    day: str = ""

    @property
    def choice(self) -> EngineChoice | None:
        return None if self.engine is None else EngineChoice(self.engine, self.knobs)

    @property
    def of_the_graph(self) -> bool:
        """Whether it was before any mode or engine was asked, so that nothing is left to ask."""
        return not self.mode and self.engine is None

    def __str__(self) -> str:
        hung = self.signal == "hang"
        ended = "cuDNN did not answer" if hung else f"cuDNN ended the process with {self.signal}"
        return f"{ended} while {self.step}, on this machine on {self.day}"

    def error(self, function: str, **arguments: str) -> CrashError:
        """The exception for it."""
        error = CrashError(
            function,
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments=arguments,
            messages=(OwnReason(str(self)), *filter(None, [self.message])),
            hint="the exception's `graph` is its JSON; Graph.build(warden=True) asks for other "
            "sizes of such a graph, where it harms nothing",
        )
        error.step, error.signal = self.step, self.signal
        return error


@dataclass(frozen=True)
class Kept:
    """The verdicts on engines for graphs of one form, and what ended the process.

    - `engines`: engines that were wrong with all knobs that were tried, and why.
    - `choices`: settings that were wrong.
    - `families`: all that was tried, as `family` tells them apart.
    """

    engines: Mapping[int, str] = field(default_factory=dict)
    choices: Mapping[EngineChoice, str] = field(default_factory=dict)
    families: frozenset[tuple[int, int | None]] = frozenset()
    crashes: tuple[Crash, ...] = ()

    def fault(self, choice: EngineChoice) -> str:
        """Why a build must not take an engine with these knobs; "" if nothing is known."""
        return self.engines.get(choice.engine) or self.choices.get(choice, "")

    def heed(self, function: str, choice: EngineChoice | None = None) -> None:
        """Refuse a graph that ended the process, or the config of it that did.

        Raises CrashError.
        """
        for each in self.crashes:
            if each.of_the_graph or (choice is not None and each.choice == choice):
                raise each.error(function)

    def heeded(self, faults: Faults) -> Faults:
        """`faults`, and the modes of heuristics that ended the process."""
        modes = {each.mode: str(each) for each in self.crashes if each.mode}
        return faults._replace(modes={**faults.modes, **modes}) if modes else faults

    @property
    def only_crashes(self) -> Kept:
        """Without verdicts: what was judged wrong can be chosen by name."""
        return NOTHING.with_crashes(self.crashes)

    def with_crashes(self, crashes: tuple[Crash, ...]) -> Kept:
        told = {each.choice: str(each) for each in crashes if each.choice is not None}
        engines = {choice.engine: reason for choice, reason in told.items() if not choice.knobs}
        return replace(
            self,
            engines={**self.engines, **engines},
            choices={**self.choices, **told},
            crashes=crashes,
        )


NOTHING = Kept()


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Conditions that an engine config must meet; `Graph.build` takes the first that does.

    Parameters
    ----------
    require, forbid : note, or collection of notes
        Numerical and behaviour notes that an engine must have, or must not have: members of
        ``cudnnBackendNumericalNote_t`` and ``cudnnBackendBehaviorNote_t``, or names in short, such
        as "tensor_core", "down_convert_inputs", "runtime_compilation". Kept as frozen sets of
        short names.
    deterministic : bool
        Whether two executions must give the same bits: forbids the note "nondeterministic".
    workspace_limit : int, optional
        Bytes of workspace at most.
    shared_memory_limit : int, optional
        Bytes of shared memory that a block of threads uses at most. Precompiled engines do not
        tell theirs (up to cuDNN 9.28), and pass.
    engines : collection of int, optional
        Only these engines, by index.
    without_engines : collection of int
        None of these.

    Raises
    ------
    ValueError
        If there is no such note, a limit is negative, or a note is both required and forbidden.
    TypeError
        If a value is of the wrong kind.

    Examples
    --------
    >>> Selection(require="tensor_core", deterministic=True, workspace_limit=1 << 20)
    Selection(require={'tensor_core'}, deterministic=True, workspace_limit=1048576)
    """

    require: Any = frozenset()
    forbid: Any = frozenset()
    deterministic: bool = False
    workspace_limit: int | None = None
    shared_memory_limit: int | None = None
    engines: Collection[int] | None = None
    without_engines: Collection[int] = frozenset()

    # What this machine has found wrong for one graph: no part of the conditions that a user states.
    kept: ClassVar[Kept] = NOTHING

    def __post_init__(self) -> None:
        changed: dict[str, Any] = {name: _notes(name, getattr(self, name)) for name in _NOTES}
        both = changed["require"] & changed["forbid"]
        if flag("deterministic", self.deterministic) and "nondeterministic" in changed["require"]:
            both |= {"nondeterministic"}
        if both:
            raise ValueError(f"{', '.join(sorted(both))}: required and forbidden at once")
        for name in ("workspace_limit", "shared_memory_limit"):
            changed[name] = _limit(name, getattr(self, name))
        changed["engines"] = None if self.engines is None else _indices("engines", self.engines)
        changed["without_engines"] = _indices("without_engines", self.without_engines)
        for name, value in changed.items():
            object.__setattr__(self, name, value)

    def within(self, workspace_limit: int | None) -> Selection:
        """The same conditions, and a workspace of at most so many bytes."""
        limits = [n for n in (self.workspace_limit, workspace_limit) if n is not None]
        return replace(self, workspace_limit=min(limits, default=None)).passing_over(self.kept)

    def passing_over(self, kept: Kept) -> Selection:
        """The same conditions, and no config that this machine has found wrong for one graph.

        Parameters
        ----------
        kept : Kept
            What is known of the graph.
        """
        if kept is self.kept:
            return self
        found = replace(self)
        object.__setattr__(found, "kept", kept)
        return found

    def refusal_of_engine(self, index: int) -> str:
        """Why an engine is not wanted by its index alone; "" if it is."""
        if self.engines is not None and index not in self.engines:
            return "its engine is not among those asked for"
        if index in self.without_engines:
            return "its engine is excluded"
        return self.kept.engines.get(index, "")

    def refusal(self, config: EngineConfig) -> str:
        """Why a config is not wanted; "" if it is.

        Nothing is compiled for it: configs tell their notes and workspace before. The text is the
        same for all configs that one condition leaves out.
        """
        engine = config.engine
        unwanted = self.refusal_of_engine(engine.index)
        if not unwanted and self.kept is not NOTHING:
            unwanted = self.kept.fault(config.choice)
        if unwanted:
            return unwanted
        if self.require or self._forbidden:
            notes = engine.numerical_notes | engine.behavior_notes
            if unwanted := self.refusal_of_notes(notes):
                return unwanted
        if self.workspace_limit is not None:
            unwanted = self.refusal_of_workspace(config.workspace_size)
        if not unwanted and self.shared_memory_limit is not None:
            used = config.shared_memory
            if used is not None and used > self.shared_memory_limit:
                return f"uses more shared memory than {self.shared_memory_limit} bytes"
        return unwanted

    @property
    def _forbidden(self) -> frozenset[str]:
        forbidden: frozenset[str] = self.forbid
        return forbidden | {"nondeterministic"} if self.deterministic else forbidden

    def refusal_of_notes(self, notes: Collection[str]) -> str:
        """Why an engine with these notes is not wanted; "" if it is."""
        if lacking := self.require.difference(notes):
            return f"lacks the note {', '.join(sorted(lacking))}"
        if found := self._forbidden.intersection(notes):
            return f"has the note {', '.join(sorted(found))}"
        return ""

    def refusal_of_workspace(self, size: int | None) -> str:
        """Why a workspace of this size, None if not known yet, is not wanted; "" if it is."""
        if size is None or self.workspace_limit is None or size <= self.workspace_limit:
            return ""
        return f"needs a workspace of more than {self.workspace_limit} bytes"

    def __repr__(self) -> str:
        shown = []
        for each in fields(self):
            value = getattr(self, each.name)
            if value != each.default:
                sets = isinstance(value, frozenset)
                text = f"{{{', '.join(map(repr, sorted(value)))}}}" if sets else repr(value)
                shown.append(f"{each.name}={text}")
        return f"Selection({', '.join(shown)})"


_NOTES = ("require", "forbid")


def _notes(argument: str, notes: Any) -> frozenset[str]:
    kinds = (raw.cudnnBackendNumericalNote_t, raw.cudnnBackendBehaviorNote_t)
    each = [notes] if isinstance(notes, (str, *kinds)) else notes
    if not isinstance(each, Collection):
        raise TypeError(f"{argument}: expected notes or their names, got {notes!r}")
    return frozenset(_note(argument, note) for note in each)


def _note(argument: str, note: Any) -> str:
    for cls, names in (
        (raw.cudnnBackendNumericalNote_t, NUMERICAL_NOTES),
        (raw.cudnnBackendBehaviorNote_t, BEHAVIOR_NOTES),
    ):
        if isinstance(note, cls) or (isinstance(note, str) and _known(cls, note)):
            found = short_name(enumerator(cls, note, argument))
            if found in names:
                return found
    if not isinstance(note, str):
        raise TypeError(f"{argument}: expected a note or its name, got {note!r}")
    every = sorted(NUMERICAL_NOTES | BEHAVIOR_NOTES)
    guess = suggestion(note.lower().replace("-", "_"), every)
    raise ValueError(f"{argument}: there is no note {note!r}{guess}; there are {', '.join(every)}")


@functools.cache
def _known(cls: Any, name: str) -> bool:
    try:
        enumerator(cls, name, "note")
    except ValueError:
        return False
    return True


def _limit(argument: str, nbytes: Any) -> int | None:
    if nbytes is None:
        return None
    return integer(argument, nbytes, least=0, expected="a number of bytes")


def _indices(argument: str, engines: Any) -> frozenset[int]:
    several = isinstance(engines, Collection) and not isinstance(engines, (str, bytes))
    return frozenset(
        integer(argument, index, least=0, expected="indices of engines")
        for index in (engines if several else [engines])
    )
