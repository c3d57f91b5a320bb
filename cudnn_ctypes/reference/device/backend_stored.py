"""The operation graph that the JSON of an execution plan holds, as descriptors would hold it.

cuDNN writes it for its own use. Its words are the names of attributes in other spellings; the
others are in the tables here, found by comparing graphs with cuDNN 9.28's JSON for them. A word
that means no attribute makes the graph unreadable.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from ... import raw
from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw.backend import attribute
from .backend_records import Record

_DESCRIPTOR = Type.CUDNN_TYPE_BACKEND_DESCRIPTOR

_IGNORED = {"operation", "mathPrec", "isDeterministic", "nbSpatialDims", "compType", "nanOpt"}

_PREFIXES = {
    "CONVOLUTION_BACKWARD_DATA": "CONVOLUTION_BWD_DATA",
    "CONVOLUTION_BACKWARD_FILTER": "CONVOLUTION_BWD_FILTER",
    "GEN_STATS": "GENSTATS",
    "NORM_FORWARD": "NORM_FWD",
    "NORM_BACKWARD": "NORM_BWD",
    "BN_FINALIZE_STATISTICS": "BN_FINALIZE",
}
"""Attributes of operations that are called otherwise."""

_INNER = {
    "CONVOLUTION_FORWARD": ("CONV_DESC", "CONVOLUTION"),
    "CONVOLUTION_BWD_DATA": ("CONV_DESC", "CONVOLUTION"),
    "CONVOLUTION_BWD_FILTER": ("CONV_DESC", "CONVOLUTION"),
    "MATMUL": ("DESC", "MATMUL"),
    "POINTWISE": ("PW_DESCRIPTOR", "POINTWISE"),
    "REDUCTION": ("DESC", "REDUCTION"),
    "RESAMPLE_FWD": ("DESC", "RESAMPLE"),
    "RESAMPLE_BWD": ("DESC", "RESAMPLE"),
}
"""By operation, its attribute with the descriptor of parameters, and the prefix of these."""

_WORDS: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("backend_words.json").read_text("utf-8")
)
"""By prefix of attributes, the words that are not their names. Of two the mode looks at one."""


def operation_graph(text: bytes | str) -> Record:
    """The record of the operation graph of a plan.

    Raises ValueError if it cannot be read; the message names the unknown part.
    """
    try:
        stored = json.loads(text)["operationGraph"]
        tensors = {each["name"]: _tensor(each) for each in stored["tensors"]}
        operations = tuple(_operation(node, tensors) for node in stored["nodes"])
    except (LookupError, TypeError, ZeroDivisionError) as error:
        raise ValueError(f"it holds no {error}") from error
    graph = Record(raw.CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, finalized=True)
    graph.values[Name.CUDNN_ATTR_OPERATIONGRAPH_OPS] = (_DESCRIPTOR, operations)
    return graph


def _tensor(stored: Mapping[str, Any]) -> Record:
    record = Record(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, finalized=True)
    for word, value in {**stored, "name": int(stored["name"])}.items():
        names = _attributes("TENSOR", word)
        if not names:
            raise ValueError(f"of a tensor the word {word} is not known")
        if word == "isRagged":
            record.values[names[0]] = (_DESCRIPTOR, tuple(_tensor(each) for each in value))
        else:
            _put(record, names, value)
    return record


def _operation(node: Mapping[str, Any], tensors: Mapping[str, Record]) -> Record:
    name = node["operation"].removeprefix("CUDNN_BACKEND_OPERATION_").removesuffix("_DESCRIPTOR")
    prefix = _PREFIXES.get(name, name)
    record = Record(raw.cudnnBackendDescriptorType_t[node["operation"]], finalized=True)
    inner = Record(finalized=True)
    port, parameters = _INNER.get(prefix, ("", "none"))
    for word, value in node.items():
        if word in _IGNORED:
            continue
        if names := _attributes(f"OPERATION_{prefix}", word):
            facts = attribute(names[0])
            if facts is not None and _DESCRIPTOR in facts.types:
                record.values[names[0]] = (_DESCRIPTOR, (tensors[value],))
            else:
                _put(record, names, value)
        elif names := _attributes(parameters, word):
            _put(inner, names, value)
        else:
            raise ValueError(f"of {name} the word {word} is not known")
    if port:
        record.values[Name[f"CUDNN_ATTR_OPERATION_{prefix}_{port}"]] = (_DESCRIPTOR, (inner,))
    if parameters == "CONVOLUTION":
        _put(inner, [Name.CUDNN_ATTR_CONVOLUTION_COMP_TYPE], node["mathPrec"])
    return record


def _attributes(prefix: str, word: str) -> list[Name]:
    """The attributes with a prefix that a word means; none if it means none."""
    if listed := _WORDS.get(prefix, {}).get(word):
        return [Name[f"CUDNN_ATTR_{prefix}_{each}"] for each in listed.split()]
    found = _names(prefix).get(_spelled(word.lower().removeprefix(prefix.lower())))
    return [] if found is None else [found]


@functools.cache
def _names(prefix: str) -> dict[str, Name]:
    start = f"CUDNN_ATTR_{prefix}_"
    return {_spelled(each.name[len(start) :]): each for each in Name if each.name.startswith(start)}


def _spelled(name: str) -> str:
    """A name without what the two spellings differ in."""
    plain = re.sub("_|desc$|valtensor$", "", name.lower())
    return re.sub("^bn(?=.)|s$", "", plain)


def _put(record: Record, attributes: Sequence[Name], value: Any) -> None:
    """One word's value as it would have been set."""
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    type_, found = Type.CUDNN_TYPE_INT64, []
    for each in values:
        if isinstance(each, str):
            each = int(getattr(raw, each))
        elif isinstance(each, float):
            type_, each = Type.CUDNN_TYPE_FLOAT, math.inf if each > 1e308 else each
        elif isinstance(each, Sequence):
            type_, each = Type.CUDNN_TYPE_FRACTION, Fraction(*each)
        found.append(each)
    record.values |= dict.fromkeys(attributes, (type_, tuple(found)))
