"""Sizes of memory that calls told a program: another device tells others."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...raw import FUNCTIONS
from ...raw.function import Function
from .steps import Memory, Number, Object, Told, Value, Variable


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
            if each.direction == "out":
                size = Object(f"{each.name} {step}", each.type.base)
                told[each.name] = values[each.name], size
                arguments[each.name] = Variable(size.type, each.name, created=size.name)
        self._queries.append(_Query(function.__name__, given, told, step))

    def take(self, function: Function, values: dict[str, Value]) -> None:
        """Take sizes among a call's arguments from the variables in which calls told them."""
        for parameter in function.parameters:
            name, number = parameter.name, values[parameter.name]
            query = self._query(parameter.type.told_by, values)
            if query is None or not isinstance(number, Number):
                continue
            told, size = query.told.get(name) or next(iter(query.told.values()))
            memory = [
                values[each.name] for each in function.parameters if name in each.described_by
            ]
            places = [each for each in memory if isinstance(each, Memory)]
            if any(each.offset or each.allocation.step < query.step for each in places):
                continue  # it was allocated before the program knew
            for each in places:
                if size not in each.allocation.told:
                    each.allocation.told += (size,)
            values[name] = Told(size, 0 if told == number.value else int(number.value))

    def _query(self, function: str, values: Mapping[str, Value]) -> _Query | None:
        """The last call of a function with the descriptors that another call has, too."""
        for each in reversed(self._queries):
            shared = each.values.keys() & values.keys()
            if each.function == function and all(
                each.values[name] == values[name] for name in shared
            ):
                return each
        return None
