"""Decide what the headers leave open: directions, the memory behind pointers, lengths, versions."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from . import overrides
from .model import Declaration, Direction, Enum, Function, Headers, Parameter, Passing

_Dated = TypeVar("_Dated", bound=Declaration)


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
        handles=[decider.dated(h) for h in headers.handles],
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
            "DEVICE_MEMORY",
            "DEVICE_ARRAYS",
            "LENGTHS",
            "DIRECTIONS",
            "SINCE",
            "RENUMBERED",
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
        if since is None:
            self.problems.append(f"{name}: no @since tag; name its version in overrides.SINCE")
        return replace(declaration, since=since)

    def enum(self, enum: Enum) -> Enum:
        enum = self.dated(enum)
        for member in enum.enumerators:
            if member.value not in overrides.RENUMBERED.get(member.name, {}).values():
                self.used.add(("RENUMBERED", member.name))
        members = tuple(self.dated(member, inherited=enum.since) for member in enum.enumerators)
        return replace(enum, enumerators=members)

    # --- parameters ----------------------------------------------------------------------------

    def function(self, function: Function) -> Function:
        parameters = tuple(self._parameter(function, p) for p in function.parameters)
        return replace(self.dated(function), parameters=parameters)

    def _parameter(self, function: Function, parameter: Parameter) -> Parameter:
        passing, length = self._passing(function, parameter)
        direction = self._direction(function, parameter)
        return replace(parameter, direction=direction, passing=passing, length=length)

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
