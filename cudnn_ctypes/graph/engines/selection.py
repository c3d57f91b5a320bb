"""Which engine configs may carry out a graph: by their notes, memory, determinism and engine."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ... import raw
from ...arguments import enumerator, flag, integer, short_name, suggestion

if TYPE_CHECKING:
    from ..backend.engine import EngineChoice, EngineConfig
    from ..lower.faults import Faults
    from .judging.kept import Kept


def _names(cls: Any) -> frozenset[str]:
    return frozenset(short_name(note) for note in cls if not note.is_count)


NUMERICAL_NOTES = _names(raw.cudnnBackendNumericalNote_t)
"""Short names of all notes on what an engine does to the numbers."""

BEHAVIOR_NOTES = _names(raw.cudnnBackendBehaviorNote_t)
"""Short names of all notes on how an engine behaves."""


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
    _kept: ClassVar[Kept | None] = None

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
        return replace(self, workspace_limit=min(limits, default=None)).passing_over(self._kept)

    def passing_over(self, kept: Kept | None) -> Selection:
        """The same conditions, and no config that a judge has found wrong on this machine.

        Parameters
        ----------
        kept : Kept or None
            What is known for one graph; None for nothing.
        """
        if kept is self._kept:
            return self
        found = replace(self)
        object.__setattr__(found, "_kept", kept)
        return found

    def heed(self, function: str, choice: EngineChoice | None = None) -> None:
        """Refuse a graph that ended the process on this machine, or a config of it that did.

        Parameters
        ----------
        function : str
            Who refuses.
        choice : EngineChoice, optional

        Raises
        ------
        CrashError
        """
        if self._kept is not None:
            self._kept.heed(function, choice)

    def heeded(self, faults: Faults) -> Faults:
        """`faults` of a graph, and the modes of heuristics that ended the process on this machine.

        Parameters
        ----------
        faults : Faults
        """
        return faults if self._kept is None else self._kept.heeded(faults)

    def fault_of(self, choice: EngineChoice) -> str:
        """Why a judge has found a config wrong on this machine; "" if none has.

        Parameters
        ----------
        choice : EngineChoice
        """
        return "" if self._kept is None else self._kept.fault(choice)

    def refusal_of_engine(self, index: int) -> str:
        """Why an engine is not wanted by its index alone; "" if it is."""
        if self.engines is not None and index not in self.engines:
            return "its engine is not among those asked for"
        if index in self.without_engines:
            return "its engine is excluded"
        return "" if self._kept is None else self._kept.engines.get(index, "")

    def refusal(self, config: EngineConfig) -> str:
        """Why a config is not wanted; "" if it is.

        Nothing is compiled for it: configs tell their notes and workspace before. The text is the
        same for all configs that one condition leaves out.
        """
        engine = config.engine
        unwanted = self.refusal_of_engine(engine.index)
        if not unwanted and self._kept is not None:
            unwanted = self.fault_of(config.choice)
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
        for name, default in (*((note, frozenset()) for note in _NOTES), *_OTHERS):
            value = getattr(self, name)
            if value != default:
                sets = isinstance(value, frozenset)
                text = f"{{{', '.join(map(repr, sorted(value)))}}}" if sets else repr(value)
                shown.append(f"{name}={text}")
        return f"Selection({', '.join(shown)})"


_NOTES = ("require", "forbid")
_OTHERS: tuple[tuple[str, Any], ...] = (
    ("deterministic", False),
    ("workspace_limit", None),
    ("shared_memory_limit", None),
    ("engines", None),
    ("without_engines", frozenset()),
)


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
