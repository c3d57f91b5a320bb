"""Rules that operands of C functions must satisfy, declared once over descriptors' records.

Layer 2 turns a broken rule into a ValueError, the reference device into the status that cuDNN
returns, and the hint of a failed call names it, all with the same sentence. `language` says how
rules are declared; the other modules declare them.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import types
from ..ctypes_support import OpaquePointer
from ..descriptors import Filter, RNNData, SequenceData, Tensor, record
from ..function import Function
from .language import Broken, Operand, declared

__all__ = ["Broken", "Operand", "broken", "check", "refuse"]

_MODULES = ("images", "tensors", "convolutions", "normalizations", "sequences")


@functools.cache
def _load() -> None:
    for module in _MODULES:
        importlib.import_module(f".{module}", __name__)


def broken(
    function: Function,
    values: Mapping[str, Any],
    names: Mapping[str, str] | None = None,
    *,
    asked: Callable[[Broken], bool] = lambda rule: rule.status is not None,
) -> Broken | None:
    """The first rule that the arguments of a call break; None if they break none.

    - `values`: arguments by C's names of their parameters.
    - `names`: other names of operands for the sentence, by C's names.
    - `asked`: whether a rule counts; by default those count that cuDNN checks.
    """
    _load()
    kinds = {parameter.name: parameter.type for parameter in function.parameters}

    def argument(name: str) -> Any:
        of = kinds[name]
        if values.get(name) is None:
            return None
        by, is_memory = name, of.kind == "device" and bool(of.described_by)
        if is_memory:
            by = of.described_by[0]
        value = values.get(by)
        if kinds[by].kind != "value" or not issubclass(kinds[by].base, OpaquePointer):
            return value
        held = record(value)
        if not isinstance(held, (Tensor, Filter, RNNData, SequenceData)):
            return held
        address = values[name] if is_memory and isinstance(values[name], int) else None
        return Operand((names or {}).get(name, name), held, address)

    for generator, parameters in declared.get(function.__name__, ()):
        given = {name: argument(of) for name, of in parameters.items() if of in kinds}
        if "function" in parameters:
            given["function"] = function.__name__
        for rule in generator(**given):
            if asked(rule):
                return rule
    return None


_SET = (
    types.cudnnTensorDescriptor_t,
    types.cudnnFilterDescriptor_t,
    types.cudnnRNNDataDescriptor_t,
    types.cudnnSeqDataDescriptor_t,
    types.cudnnRNNDescriptor_t,
)
"""Descriptors that have a record once they are set."""


def check(function: Function, values: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Refuse arguments that do not fit together; parameters as for `broken`.

    Raises ValueError: it names the operand.
    """
    for parameter in function.parameters:
        value, name = values.get(parameter.name), parameter.name
        if parameter.type.base in _SET and value is not None and record(value) is None:
            raise ValueError(f"{names.get(name, name)}: this descriptor is not set")
    if found := broken(function, values, names, asked=lambda rule: rule.by_meaning):
        raise ValueError(str(found))


def refuse(rules: Iterable[Broken]) -> None:
    """Raise ValueError for the first of broken rules that no C function has."""
    for each in rules:
        raise ValueError(str(each))
