"""What this package knows of a name: its declaration, its facts, and what belongs to it."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cudnn_ctypes

from .. import errors, raw
from ..coverage.source import users
from ..graph.values import ENUMS
from ..raw import constants, enums, functions, hints, types
from ..raw.attributes import ATTRIBUTES, KINDS, Attribute, kind_name, owner_and_short_name
from ..raw.ctypes_support import CudnnEnum
from ..raw.describe import aligned, documentation, enum_of
from ..raw.function import Function
from ..raw.gone import changed
from ..raw.gone import find as find_gone
from ..raw.gone_table import OLD_STATUS_NUMBERS
from .explanations import Explanation, explanation
from .words import related

__all__ = ["Entry", "find"]

_EXAMPLES = Path(__file__).parents[2] / "examples"  # they do not come with a wheel
_PREFIXES = ("", "cudnn", "cudnn_", "cudnn_status_", "cudnn_data_")


@dataclass(frozen=True)
class Entry:
    """One thing that a name means.

    Attributes
    ----------
    name, kind : str
    text : str
        Its declaration and facts.
    lists : dict of str to list of str
        Names that belong to it, by what they are to it.
    facts : dict
        The facts as data, for JSON.
    explanation : Explanation or None
        What the installed headers say of it.
    in_headers : bool
        Whether headers could say something of it.
    """

    name: str
    kind: str
    text: str
    lists: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    explanation: Explanation | None = None
    in_headers: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        said = self.explanation
        return {
            "name": self.name,
            "kind": self.kind,
            "text": self.text,
            **self.facts,
            **{key.replace(" ", "_"): names for key, names in self.lists.items() if names},
            "explanation": said
            and {
                "header": str(said.header),
                "version": said.version,
                "text": said.text,
                "parameters": said.parameters,
            },
        }


def find(name: str) -> list[Entry]:
    """Everything that is called `name`; empty if nothing is."""
    if name.isdigit():
        return [_status(int(name))] if _has_status(int(name)) else []
    if name in _by_lower_case().values():
        return [_declared(name)]
    if gone := find_gone(name):
        facts = {"first": gone.first, "gone": gone.gone, "why": gone.why, "now": list(gone.now)}
        return [Entry(name, f"{gone.kind}, gone", str(gone), facts=facts)]
    if name in errors.__all__:
        return [_exception(name)]
    if used := _used_by(name) if hasattr(cudnn_ctypes, name) else []:
        return [_public(name, used)]
    return [_declared(each) for each in dict.fromkeys(_meant(name.lower()))]


def _meant(name: str) -> Iterator[str]:
    """The names of layer 1 that a name in lower case, short or without its prefix, stands for."""
    names = _by_lower_case()
    yield from (names[prefix + name] for prefix in _PREFIXES if prefix + name in names)
    if name in KINDS:
        yield KINDS[name].name
    for attribute in _attributes():
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
        return _status(int(item), name)
    if isinstance(item, raw.cudnnBackendAttributeName_t):
        return _attribute(name, item)
    if isinstance(item, raw.cudnnBackendDescriptorType_t):
        return _descriptor_type(name, item)
    if isinstance(item, CudnnEnum):
        lists = _takers(type(item))
        facts = {"enum": type(item).__name__, "value": int(item)}
        return _entry(name, "enumerator", documentation(name), lists, facts)
    if enum_of(name):
        members = {each: int(member) for each, member in item.__members__.items()}
        return _entry(name, "enum", documentation(name), _takers(item), {"members": members})
    if name in constants.__all__:
        value = {} if callable(item) else {"value": item}
        return _entry(name, "macro", documentation(name), {}, value)
    kind = "struct" if hasattr(item, "_cfields_") else "handle type"
    return _entry(name, kind, documentation(name), _takers(item) | _class_for(name))


def _entry(
    name: str,
    kind: str,
    text: str,
    lists: dict[str, list[str]] | None = None,
    facts: dict[str, Any] | None = None,
) -> Entry:
    lists = dict(lists or {})
    listed = {each for names in lists.values() for each in names}
    lists["related"] = [each for each in related(name) if each not in listed]
    return Entry(name, kind, text, lists, facts or {}, explanation(name), in_headers=True)


def _function(name: str, function: Function) -> Entry:
    text = documentation(name)
    if note := changed(name):
        text += f"\n\nin programs for old releases: {note}"
    used_by = _users().get(name, [])
    lists = {"used by": used_by, "example": _examples(name, used_by)}
    facts = {
        "prototype": function.prototype,
        "header": function.header,
        "since": function.since,
        "deprecated": function.deprecated,
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
    return _entry(name, "function", text, lists, facts)


@functools.cache
def _users() -> dict[str, list[str]]:
    return users(frozenset(raw.FUNCTIONS))


def _examples(name: str, used_by: list[str]) -> list[str]:
    """The first example that calls a function, else the first that uses what stands on it."""
    texts = {path: path.read_text() for path in sorted(_EXAMPLES.glob("*.py"))}
    for wanted in (name, *used_by):
        for path, text in texts.items():
            if all(re.search(rf"\b{word}\b", text) for word in wanted.split(".")):
                return [f"examples/{path.name}"]
    return []


def _used_by(public: str) -> list[str]:
    """The C functions that a public class or function of this package uses."""
    return [
        name
        for name, used_by in _users().items()
        if any(each.partition(".")[0] == public for each in used_by)
    ]


def _public(name: str, used: list[str]) -> Entry:
    item = getattr(cudnn_ctypes, name)
    kind = "class" if isinstance(item, type) else "Python function"
    signature = inspect.signature(item)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    declared = signature.replace(parameters=bare, return_annotation=signature.empty)
    summary = " ".join(inspect.cleandoc(item.__doc__ or "").partition("\n\n")[0].split())
    text = f"cudnn_ctypes.{name}{declared}\n\n{summary}"
    return Entry(name, kind, text, {"uses": used, "example": _examples(name, [])})


def _class_for(handle_type: str) -> dict[str, list[str]]:
    creator = handle_type.replace("cudnn", "cudnnCreate", 1).removesuffix("_t")
    return {"used by": _users().get(creator, [])}


@functools.cache
def _takers(cls: Any) -> dict[str, list[str]]:
    """The functions, backend attributes and structs that take, give or hold a type."""
    takes: list[str] = []
    gives: list[str] = []
    for name, function in raw.FUNCTIONS.items():
        found = {p.direction == "out" for p in function.parameters if p.type.base is cls}
        takes += [name] if False in found else []
        gives += [name] if True in found else []
    types_of = [type_ for type_, enum in ENUMS.items() if enum is cls]
    if cls in (raw.cudnnHandle_t, raw.cudnnFraction_t):
        types_of.append(raw.cudnnBackendAttributeType_t[_TYPE_NAMES[cls.__name__]])
    attributes = [a.full_name for a in _attributes() if a.types[0] in types_of]
    structs = [getattr(types, name) for name in types.__all__]
    fields = [
        f"{struct.__name__}.{name}"
        for struct in structs
        for name, base in getattr(struct, "_cfields_", ())
        if base is cls
    ]
    return {"taken by": takes, "given by": gives, "attributes": attributes, "fields": fields}


_TYPE_NAMES = {"cudnnHandle_t": "CUDNN_TYPE_HANDLE", "cudnnFraction_t": "CUDNN_TYPE_FRACTION"}


def _attributes() -> Iterator[Attribute]:
    for own in ATTRIBUTES.values():
        yield from own.values()


def _attribute(name: str, item: Any) -> Entry:
    kind, short = owner_and_short_name(item)
    attribute = ATTRIBUTES[kind][short]
    values = [f"{t.name} ({ENUMS[t].__name__})" if t in ENUMS else t.name for t in attribute.types]
    wanted = sorted(kind_name(each) for each in attribute.wants)
    if len(wanted) > 6:
        wanted = ["any operation"]
    rows = [
        ("in Python", attribute.full_name),
        ("descriptor", kind.name),
        ("type", " or ".join(values)),
        *([("of", ", ".join(wanted))] if wanted else []),
        ("count", "any number" if attribute.is_array else "one"),
        ("settable", "yes" if attribute.settable else "no, cuDNN computes it"),
    ]
    facts = {
        "value": int(item),
        "short_name": attribute.full_name,
        "descriptor": kind.name,
        "types": [t.name for t in attribute.types],
        "wants": sorted(each.name for each in attribute.wants),
        "is_array": attribute.is_array,
        "settable": attribute.settable,
        "since": attribute.since,
    }
    text = f"{documentation(name)}\n\n{aligned(rows)}"
    return _entry(name, "backend attribute", text, {}, facts)


def _descriptor_type(name: str, item: Any) -> Entry:
    own = ATTRIBUTES[item]
    rows = [
        (
            each.short_name,
            each.types[0].name.removeprefix("CUDNN_TYPE_") + "[]" * each.is_array,
            "" if each.settable else "computed",
            f"since {each.since}" if each.since != "9.0.0" else "",
        )
        for each in own.values()
    ]
    text = f"{documentation(name)}\n\nin Python: BackendDescriptor({kind_name(item)!r})"
    text += f"\n\n{aligned(rows)}" if rows else ""
    held = [a.full_name for a in _attributes() if item in a.wants]
    facts = {"value": int(item), "short_name": kind_name(item), "attributes": list(own)}
    return _entry(name, "backend descriptor type", text, {"held by": held}, facts)


def _has_status(code: int) -> bool:
    return raw.cudnnStatus_t(code).known or code in OLD_STATUS_NUMBERS


def _status(code: int, name: str = "") -> Entry:
    """The entry of a status, also by the number that it had before 9.0."""
    old = ""
    if not raw.cudnnStatus_t(code).known:
        name = OLD_STATUS_NUMBERS[code]
        code, old = int(getattr(raw, name)), f"{code} was {name} before cuDNN 9.0\n\n"
    name = name or raw.cudnnStatus_t(code).name
    number = next((n for n, each in OLD_STATUS_NUMBERS.items() if each == name), None)
    text = old + documentation(name)
    rows = [] if code == 0 else [("raised as", errors.error_class(code).__name__)]
    if number is not None and not old:
        rows.append(("before 9.0", str(number)))
    if advice := hints.hint("", name, ()):
        rows.append(("usual cause", advice))
    text += "\n\n" + aligned(rows) if rows else ""
    facts = {"enum": "cudnnStatus_t", "value": code, "before_9": number}
    return _entry(name, "status", text, {}, facts)


def _exception(name: str) -> Entry:
    cls = getattr(errors, name)
    statuses = [
        f"{each} ({int(member)})"
        for each, member in raw.cudnnStatus_t.__members__.items()
        if int(member) and errors.error_class(member) is cls
    ]
    bases = ", ".join(base.__name__ for base in cls.__mro__[1:-2])
    text = f"exception {name}({bases})\n\n{inspect.cleandoc(cls.__doc__ or '')}"
    return Entry(name, "exception", text, {"statuses": statuses})
