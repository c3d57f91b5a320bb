"""The entries for a name: functions, types and Python objects."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

import cudnn_ctypes

from ... import errors, raw
from ...evidence.known_faults import known_faults
from ...raw import constants, enums, functions, types
from ...raw.attributes import KINDS
from ...raw.ctypes_support import CudnnEnum
from ...raw.describe import documentation, enum_of
from ...raw.faults import Fault
from ...raw.function import Function
from ...raw.gone import changed
from ...raw.gone import find as find_gone
from ...raw.uses import USES
from ..examples import folder
from .backend import attribute_entry, attributes, attributes_holding, descriptor_type_entry
from .entry import Entry, declared
from .statuses import exception_entry, has_status, status_entry

__all__ = ["find"]

_PREFIXES = ("", "cudnn", "cudnn_", "cudnn_status_", "cudnn_data_")

# Text around a name in error messages and programs.
_WRAPPING = re.compile(r"^(?:cudnn_ctypes\.)?(?:raw\.)?(?:cudnn\w+_t\.(?=CUDNN_))?|\s*\(.*$")


def find(name: str) -> list[Entry]:
    """The entries for `name`, in a form that messages and programs use; empty if none."""
    name = _WRAPPING.sub("", name.strip())
    if name.isdecimal() and has_status(int(name)):
        return [status_entry(int(name))]
    if name in _by_lower_case().values():
        return [_declared(name)]
    if gone := find_gone(name):
        facts = {"first": gone.first, "gone": gone.gone, "why": gone.why, "now": list(gone.now)}
        return [Entry(name, f"{gone.kind}, gone", str(gone), facts=facts)]
    if name in errors.__all__:
        return [exception_entry(name)]
    if public := _public(name):
        return [public]
    if faults := [row for row in known_faults() if row.name == name or _tracked(row, name)]:
        return [Entry(row.name, "known fault", str(row), facts=row.facts) for row in faults]
    return [_declared(each) for each in dict.fromkeys(_meant(name.lower()))]


def _tracked(row: Fault, name: str) -> bool:
    """Whether a tracker and a number, as "pytorch 196678" or "#196678", are evidence of a row."""
    number = name.removeprefix("#").replace("#", " ").lower()
    trackers = [each.tracker.lower() for each in row.evidence]
    return any(number in (each, each.rpartition(" ")[2]) for each in trackers if each)


def _faults_of(name: str) -> list[str]:
    """The known faults of a C function or of a method of Graph, by name."""
    return [row.name for row in known_faults() if name in row.calls]


def _meant(name: str) -> Iterator[str]:
    """The names of layer 1 for a short name, or a name without prefix, in lower case."""
    names = _by_lower_case()
    yield from (names[prefix + name] for prefix in _PREFIXES if prefix + name in names)
    if name in KINDS:
        yield KINDS[name].name
    for attribute in attributes():
        if name in (attribute.full_name, attribute.short_name):
            yield attribute.name.name


@functools.cache
def _by_lower_case() -> dict[str, str]:
    modules = (functions, enums, types, constants)
    return {name.lower(): name for module in modules for name in module.__all__}


def _declared(name: str) -> Entry:
    """The entry of a name of layer 1."""
    item = getattr(raw, name)
    if name in raw.FUNCTIONS:
        return _function(name, raw.FUNCTIONS[name])
    if isinstance(item, raw.cudnnStatus_t):
        return status_entry(int(item), name)
    if isinstance(item, raw.cudnnBackendAttributeName_t):
        return attribute_entry(name, item)
    if isinstance(item, raw.cudnnBackendDescriptorType_t):
        return descriptor_type_entry(name, item)
    if isinstance(item, CudnnEnum):
        lists = _takers(type(item))
        facts = {"enum": type(item).__name__, "value": int(item)}
        return declared(name, "enumerator", documentation(name), lists, facts)
    if enum_of(name):
        members = {each: int(member) for each, member in item.__members__.items()}
        return declared(name, "enum", documentation(name), _takers(item), {"members": members})
    if name in constants.__all__:
        value = {} if callable(item) else {"value": item}
        return declared(name, "macro", documentation(name), {}, value)
    kind = "struct" if hasattr(item, "_cfields_") else "handle type"
    kind = "callback type" if hasattr(item, "_argtypes_") else kind
    return declared(name, kind, documentation(name), _takers(item) | _class_for(name))


def _function(name: str, function: Function) -> Entry:
    text = documentation(name)
    if note := changed(name):
        text += f"\n\nin programs for old releases: {note}"
    used_by, example = USES[name]
    lists = {
        "used by": list(used_by),
        "example": [f"examples/{example}"] if example else [],
        "known faults": _faults_of(name),
    }
    facts = {
        "prototype": function.prototype,
        "parameters": [
            {
                "name": p.name,
                "declaration": p.c_declaration,
                "direction": p.direction,
                "length": p.length,
            }
            for p in function.parameters
        ],
    }
    return declared(name, "function", text, lists, facts)


def _example(name: str) -> list[str]:
    """The first example with a name of this package."""
    for path in sorted(folder().glob("*.py")):
        if re.search(rf"\b{name}\b", path.read_text("utf-8")):
            return [f"examples/{path.name}"]
    return []


def _used_by(public: str) -> list[str]:
    """The C functions that a public class or function of this package uses."""
    return [
        name
        for name, (used_by, _) in USES.items()
        if any(each.partition(".")[0] == public for each in used_by)
    ]


def _public(name: str) -> Entry | None:
    """The entry of a public class, function or method; None if there is none."""
    owner, dot, member = name.partition(".")
    item = getattr(cudnn_ctypes, owner, None)
    if dot:
        public = inspect.isclass(item) and member[:1] not in ("", "_")
        item = getattr(item, member, None) if public else None
    if not (inspect.isclass(item) or inspect.isfunction(item) or inspect.ismethod(item)):
        return None
    kind = "class" if inspect.isclass(item) else "Python function"
    signature = inspect.signature(item)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    shown = signature.replace(parameters=bare, return_annotation=signature.empty)
    summary = " ".join(inspect.cleandoc(item.__doc__ or "").partition("\n\n")[0].split())
    text = f"cudnn_ctypes.{name}{shown}\n\n{summary}"
    faults = _faults_of(member) if owner == "Graph" else []
    lists = {"uses": _used_by(name), "example": _example(name), "known faults": faults}
    return Entry(name, kind, text, lists)


def _class_for(handle_type: str) -> dict[str, list[str]]:
    creator = handle_type.replace("cudnn", "cudnnCreate", 1).removesuffix("_t")
    return {"used by": list(USES[creator][0]) if creator in USES else []}


@functools.cache
def _takers(cls: Any) -> dict[str, list[str]]:
    """The functions, backend attributes and structs with parameters or members of a type."""
    takes: list[str] = []
    gives: list[str] = []
    for name, function in raw.FUNCTIONS.items():
        found = {p.direction == "out" for p in function.parameters if p.type.base is cls}
        takes += [name] if False in found else []
        gives += [name] if True in found else []
    structs = [getattr(types, name) for name in types.__all__]
    fields = [
        f"{struct.__name__}.{name}"
        for struct in structs
        for name, base in getattr(struct, "_cfields_", ())
        if base is cls
    ]
    holders = attributes_holding(cls)
    return {"taken by": takes, "given by": gives, "attributes": holders, "fields": fields}
