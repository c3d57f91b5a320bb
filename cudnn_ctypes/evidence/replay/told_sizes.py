"""Sizes of memory that calls told a program: another device tells others."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...raw import FUNCTIONS
from ...raw.function import Function
from .recorded import Memory, Number, Object, Told, Value, Variable


@functools.cache
def _tellers() -> frozenset[str]:
    """The functions that tell sizes."""
    parameters = (each for function in FUNCTIONS.values() for each in function.parameters)
    return frozenset(each.type.told_by for each in parameters) - {""}


@dataclass(frozen=True)
class _Query:
    """A call that told sizes: what it was given, sizes with variables, and its step."""

    function: str
    values: Mapping[str, Value]
    told: Mapping[str, tuple[Any, Object]]
    step: int

    def tells(self, function: str, values: Mapping[str, Value]) -> bool:
        """Whether it is a call of a function with the descriptors that another call has, too."""
        shared = self.values.keys() & values.keys()
        return self.function == function and all(self.values[n] == values[n] for n in shared)


class ToldSizes:
    """The calls of a recording that told sizes."""

    def __init__(self) -> None:
        self._queries: list[_Query] = []

    def note(
        self, function: Function, arguments: dict[str, Value], values: Mapping[str, Any], step: int
    ) -> None:
        """Name the variables of the sizes that a finished call told, if it told any."""
        if function.__name__ not in _tellers():
            return
        given = {
            name: each for name, each in arguments.items() if isinstance(each, Object | Number)
        }
        told = {}
        for each in function.parameters:
            if isinstance(arguments[each.name], Variable):  # else NULL was passed
                size = Object(f"{each.name} {step}", each.type.base)
                told[each.name] = values[each.name], size
                arguments[each.name] = Variable(size.type, each.name, created=size.name)
        self._queries.append(_Query(function.__name__, given, told, step))

    def take(self, function: Function, values: dict[str, Value]) -> None:
        """Take sizes among a call's arguments from the variables in which calls told them."""
        sizes = [each for each in function.parameters if each.type.told_by]
        memory = {
            size.name: [
                place
                for each in function.parameters
                if size.name in each.described_by and isinstance(place := values[each.name], Memory)
            ]
            for size in sizes
        }
        used = {name for name, places in memory.items() if places}
        for parameter in sizes:
            number, places = values[parameter.name], memory[parameter.name]
            if not isinstance(number, Number) or not places or any(x.offset for x in places):
                continue
            known = min(each.allocation.step for each in places)  # what was told before that
            queries = [
                each
                for each in self._queries
                if each.step <= known and each.tells(parameter.type.told_by, values)
            ]
            if not queries:
                continue
            # Asked for a reserve space too, cuDNN tells another size of attention's workspace.
            query = max(queries, key=lambda each: (-len(each.told.keys() ^ used), each.step))
            told, size = query.told.get(parameter.name) or next(iter(query.told.values()))
            for each in places:
                if size not in each.allocation.told:
                    each.allocation.told += (size,)
            values[parameter.name] = Told(size, 0 if told == number.value else int(number.value))
