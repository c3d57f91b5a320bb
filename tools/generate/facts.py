"""Decide what the headers leave open: directions, the memory behind pointers, lengths, versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from . import overrides
from .model import Declaration, Direction, Enum, Function, Handle, Headers, Parameter, Passing

_Dated = TypeVar("_Dated", bound=Declaration)

_HANDLE = "cudnnHandle_t"
_WORDS = {
    "FACTORS": "Factor",
    "EXTENTS": "Extent",
    "TOLD_BY": "ToldBy",
    "PER_SAMPLE": "PerSample",
    "SUM_OF": "SumOf",
    "LENT": "Lent",
    "NEEDED_BY": "NeededBy",
    "PADDING": "Padding",
    "SHAPES": "Dense",
}
_OF_FUNCTIONS = ("CARRIED_OUT", "FOLLOWED", "TAKEN_OVER", "NOTED")


def decide(headers: Headers) -> Headers:
    """The same headers with every parameter and version decided.

    Raises
    ------
    ValueError
        If something stays undecided, or an override matches nothing or changes nothing.
    """
    decider = _Decider(headers)
    decided = Headers(
        version=headers.version,
        functions=[decider.function(f) for f in headers.functions],
        enums=[decider.enum(e) for e in headers.enums],
        handles=[decider.handle(h) for h in headers.handles],
        structs=[decider.dated(s) for s in headers.structs],
        callbacks=[decider.dated(c) for c in headers.callbacks],
        macros=headers.macros,
    )
    decider.report()
    return decided


class _Decider:
    def __init__(self, headers: Headers) -> None:
        self.handles = {handle.name for handle in headers.handles}
        self.used: set[tuple[str, str]] = set()
        self.problems: list[str] = []

    def report(self) -> None:
        for table in (
            "HOST_SCALARS",
            "HOST_MEMORY",
            "LABELLED",
            "POINTEES",
            "DEVICE_MEMORY",
            "DEVICE_ARRAYS",
            "LENGTHS",
            "TOO_LONG",
            *_WORDS,
            "NOT_NULL",
            "NULLABLE",
            "MUST_BE_SET",
            "HALF_SET",
            "MAY_BE_UNSET",
            "DESCRIBED_BY",
            "DIRECTIONS",
            "SINCE",
            "FIRST_RELEASES",
            "REPLACED_BY",
            "RENUMBERED",
            *_OF_FUNCTIONS,
        ):
            unused = [n for n in getattr(overrides, table) if (table, n) not in self.used]
            self.problems += [f"overrides.{table}: {n!r} matches nothing" for n in sorted(unused)]
        if self.problems:
            raise ValueError("\n".join(self.problems))

    def _lookup(self, table: str, function: str, parameter: str) -> str | None:
        """The key of a table that applies to a parameter: the qualified one, else the bare one."""
        for key in (f"{function}.{parameter}", parameter):
            if key in getattr(overrides, table):
                self.used.add((table, key))
                return key
        return None

    # --- versions ------------------------------------------------------------------------------

    def dated(self, declaration: _Dated, inherited: str | None = None) -> _Dated:
        name = declaration.name
        since = declaration.since or inherited
        if name in overrides.SINCE:
            self.used.add(("SINCE", name))
            if overrides.SINCE[name] == since:
                self.problems.append(f"overrides.SINCE[{name!r}] says what the headers say")
            since = overrides.SINCE[name]
        if name in overrides.FIRST_RELEASES:
            self.used.add(("FIRST_RELEASES", name))
            if since not in (inherited, "9.0.0"):
                self.problems.append(f"{name}: its first release is stated twice")
            since = overrides.FIRST_RELEASES[name]
        elif since == inherited and since is not None and not since.startswith("9."):
            since = "9.0.0"  # of an enum that is older
        if since is None:
            self.problems.append(f"{name}: no @since tag; name its version in overrides.SINCE")
        return replace(declaration, since=since, replaced_by=self._replacement(declaration))

    def _replacement(self, declaration: Declaration) -> str | None:
        name, stated = declaration.name, declaration.replaced_by
        if name in overrides.REPLACED_BY:
            self.used.add(("REPLACED_BY", name))
            if stated is not None or not declaration.deprecated:
                self.problems.append(f"overrides.REPLACED_BY: {name!r} needs no replacement")
            return overrides.REPLACED_BY[name]
        return stated

    def enum(self, enum: Enum) -> Enum:
        enum = self.dated(enum)
        for member in enum.enumerators:
            if member.value not in overrides.RENUMBERED.get(member.name, {}).values():
                self.used.add(("RENUMBERED", member.name))
        members = [self.dated(member, inherited=enum.since) for member in enum.enumerators]
        self.used |= {("POINTEES", m.name) for m in members if m.name in overrides.POINTEES}
        labelled = [replace(m, pointee=overrides.POINTEES.get(m.name)) for m in members]
        return replace(enum, enumerators=tuple(labelled))

    def handle(self, handle: Handle) -> Handle:
        name = handle.name
        kinds = {table: name in getattr(overrides, table) for table in ("MUST_BE_SET", "HALF_SET")}
        self.used |= {(table, name) for table, is_in in kinds.items() if is_in}
        return replace(
            self.dated(handle),
            must_be_set=kinds["MUST_BE_SET"],
            may_be_half_set=kinds["HALF_SET"],
        )

    # --- parameters ----------------------------------------------------------------------------

    def function(self, function: Function) -> Function:
        parameters = tuple(self._parameter(function, p) for p in function.parameters)
        names = [parameter.name for parameter in parameters]
        parameters = tuple(
            replace(p, described_by=self._memory_described_by(function, p, names))
            if p.passing is Passing.DEVICE_MEMORY
            else p
            for p in parameters
        )
        parameters = tuple(
            replace(p, described_by=self._scalar_described_by(function, p, parameters))
            if p.passing is Passing.HOST_SCALAR
            else p
            for p in parameters
        )
        tables = [t for t in _OF_FUNCTIONS if function.name in getattr(overrides, t)]
        self.used |= {(table, function.name) for table in tables}
        facts = tuple((t.lower(), getattr(overrides, t)[function.name]) for t in tables)
        return replace(self.dated(function), parameters=parameters, facts=facts)

    def _memory_described_by(
        self, function: Function, parameter: Parameter, names: list[str]
    ) -> tuple[str, ...]:
        """The descriptor, or the size in bytes, of device memory, by C's names."""
        stem = parameter.name.removesuffix("Data").lower()
        wanted = [f"{stem}desc", f"{stem}sizeinbytes", f"{stem}size"]
        likely = [name for word in wanted for name in names if name.lower() == word][:1]
        return self._stated_descriptors(function, parameter, tuple(likely), names)

    def _scalar_described_by(
        self, function: Function, parameter: Parameter, parameters: tuple[Parameter, ...]
    ) -> tuple[str, ...]:
        """The descriptor of what a scalar scales: of the first memory that the call writes."""
        written = [
            p.described_by
            for p in parameters
            if p.direction is not Direction.IN and p.passing is Passing.DEVICE_MEMORY
        ]
        likely = next((by for by in written if by and by[0].lower().endswith("desc")), ())
        return self._stated_descriptors(function, parameter, likely, [p.name for p in parameters])

    def _stated_descriptors(
        self, function: Function, parameter: Parameter, likely: tuple[str, ...], names: list[str]
    ) -> tuple[str, ...]:
        for key in (f"{function.name}.{parameter.name}", parameter.name):
            stated = tuple(overrides.DESCRIBED_BY.get(key, "").split())
            if key not in overrides.DESCRIBED_BY or not set(stated) <= set(names):
                continue
            self.used.add(("DESCRIBED_BY", key))
            if stated == likely:
                self.problems.append(f"overrides.DESCRIBED_BY[{key!r}] changes {function.name} not")
            return stated
        return likely

    def _parameter(self, function: Function, parameter: Parameter) -> Parameter:
        passing, length = self._passing(function, parameter)
        direction = self._direction(function, parameter)
        decided = replace(parameter, direction=direction, passing=passing, length=length)
        too_long = self._lookup("TOO_LONG", function.name, parameter.name)
        return replace(
            decided,
            too_long=overrides.TOO_LONG[too_long] if too_long else None,
            words=tuple(self._words(function, decided)),
        )

    # --- words ---------------------------------------------------------------------------------

    def _words(self, function: Function, parameter: Parameter) -> Iterator[str]:
        for table, word in _WORDS.items():
            if key := self._lookup(table, function.name, parameter.name):
                values = getattr(overrides, table)
                named = values[key] if isinstance(values, dict) else ()
                named = (named,) if isinstance(named, str) else named
                quoted = (each if each.isdigit() else f'"{each}"' for each in named)
                yield f"{word} {', '.join(quoted)}" if named else word
        if (unset := self._may_be_unset(function, parameter)) is not None:
            yield f"MayBeUnset {', '.join(f'{chr(34)}{name}{chr(34)}' for name in unset)}".rstrip()
        if self._lookup("NOT_NULL", function.name, parameter.name):
            yield "NotNull"
        elif self._is_descriptor(parameter) and self._may_be_null(function, parameter):
            yield "Nullable"

    def _is_descriptor(self, parameter: Parameter) -> bool:
        ctype = parameter.ctype
        is_handle = not ctype.pointers and ctype.base in self.handles
        return is_handle and ctype.base != _HANDLE

    def _may_be_null(self, function: Function, parameter: Parameter) -> bool:
        """Whether C may accept NULL for a descriptor, as far as is known.

        Functions without a handle refuse NULL, except for destroying it, and so do convolutions.
        Among other launching functions, those in `NOT_NULL` refuse it.
        """
        if self._lookup("NULLABLE", function.name, parameter.name) or "Destroy" in function.name:
            return True
        reads = parameter.direction is Direction.IN
        return _launches(function) and not ("Convolution" in function.name and reads)

    def _may_be_unset(self, function: Function, parameter: Parameter) -> tuple[str, ...] | None:
        """The parameters that are 0 where a descriptor may be unset, or None if it never may."""
        if parameter.ctype.pointers or parameter.ctype.base not in overrides.MUST_BE_SET:
            return None
        if key := self._lookup("MAY_BE_UNSET", function.name, parameter.name):
            stated = overrides.MAY_BE_UNSET[key].split()
            names = [p.name for p in function.parameters]
            deciding = tuple(name for name in stated if name in names)
            if deciding or not stated:
                return deciding
        kinds = [p.ctype.base for p in function.parameters if not p.ctype.pointers]
        alone = sum(kind in overrides.MUST_BE_SET for kind in kinds) == 1
        # It reads the descriptor back, or destroys it.
        reads = parameter.direction is Direction.IN and alone and not _launches(function)
        return () if reads else None

    # --- memory --------------------------------------------------------------------------------

    def _passing(self, function: Function, parameter: Parameter) -> tuple[Passing, str | None]:
        name, ctype = parameter.name, parameter.ctype
        if ctype.pointers == 0:
            return Passing.VALUE, None
        if ctype.base == "void" and ctype.pointers == 1:
            return self._memory(function, name), None
        if self._lookup("DEVICE_ARRAYS", function.name, name):
            return Passing.DEVICE_ARRAY, None
        if key := self._lookup("LENGTHS", function.name, name):
            return Passing.ARRAY, overrides.LENGTHS[key]
        if parameter.is_array:
            self.problems.append(f"{function.name}.{name}: an array; overrides.LENGTHS lacks it")
        return Passing.POINTER, None

    def _memory(self, function: Function, name: str) -> Passing:
        tables = {
            "HOST_SCALARS": Passing.HOST_SCALAR,
            "HOST_MEMORY": Passing.HOST_MEMORY,
            "LABELLED": Passing.LABELLED,
            "DEVICE_MEMORY": Passing.DEVICE_MEMORY,
        }
        found = [table for table in tables if self._lookup(table, function.name, name)]
        if len(found) != 1:
            self.problems.append(f"{function.name}.{name}: void *, in tables {found}; want one")
            return Passing.DEVICE_MEMORY
        return tables[found[0]]

    def _direction(self, function: Function, parameter: Parameter) -> Direction:
        stated = parameter.tag or self._likely_direction(function, parameter)
        qualified = f"{function.name}.{parameter.name}"
        if qualified in overrides.DIRECTIONS:
            self.used.add(("DIRECTIONS", qualified))
            if overrides.DIRECTIONS[qualified] == stated:
                self.problems.append(f"overrides.DIRECTIONS[{qualified!r}] changes nothing")
            return overrides.DIRECTIONS[qualified]
        writable = parameter.ctype.pointers > 0 and not parameter.ctype.const
        if writable and parameter.name in overrides.DIRECTIONS:
            self.used.add(("DIRECTIONS", parameter.name))
            return overrides.DIRECTIONS[parameter.name]
        return stated

    def _likely_direction(self, function: Function, parameter: Parameter) -> Direction:
        """The direction that the C type suggests, where the header has no tag."""
        if parameter.ctype.pointers:
            return Direction.IN if parameter.ctype.const else Direction.OUT
        is_first = parameter is function.parameters[0]
        sets = function.name.startswith(("cudnnSet", "cudnnRNNSetClip"))
        if sets and is_first and parameter.ctype.base in self.handles:
            return Direction.INOUT
        return Direction.IN


def _launches(function: Function) -> bool:
    return any(p.ctype.base == _HANDLE and not p.ctype.pointers for p in function.parameters)
