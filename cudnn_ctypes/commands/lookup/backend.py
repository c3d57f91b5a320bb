"""Entries of the backend API: attributes and descriptor types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ... import raw
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw.attributes import ATTRIBUTES, ENUMS, Attribute, kind_name, owner_and_short_name
from ...raw.describe import aligned, documentation
from .entry import Entry, declared

__all__ = ["attribute_entry", "attributes", "attributes_holding", "descriptor_type_entry"]

_TYPES = {Type.CUDNN_TYPE_HANDLE: raw.cudnnHandle_t, Type.CUDNN_TYPE_FRACTION: raw.cudnnFraction_t}


def attributes() -> Iterator[Attribute]:
    """The attributes of all descriptor types."""
    for own in ATTRIBUTES.values():
        yield from own.values()


def attributes_holding(cls: Any) -> list[str]:
    """The attributes whose values have a C type."""
    kinds = [type_ for type_, enum in ENUMS.items() if enum is cls]
    kinds += [type_ for type_, each in _TYPES.items() if each is cls]
    return [attribute.full_name for attribute in attributes() if attribute.types[0] in kinds]


def attribute_entry(name: str, item: Any) -> Entry:
    """The entry of an attribute, with its value type and descriptor type."""
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
    }
    text = f"{documentation(name)}\n\n{aligned(rows)}"
    return declared(name, "backend attribute", text, {}, facts)


def descriptor_type_entry(name: str, item: Any) -> Entry:
    """The entry of a descriptor type: its attributes, and attributes with descriptors as values."""
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
    holders = [a.full_name for a in attributes() if item in a.wants]
    facts = {"value": int(item), "short_name": kind_name(item), "attributes": list(own)}
    return declared(name, "backend descriptor type", text, {"held by": holders}, facts)
