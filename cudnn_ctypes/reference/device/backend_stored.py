"""The operation graph that the JSON of an execution plan holds, as descriptors would hold it.

cuDNN writes it for its own use. A word that `backend_words` does not know makes it unreadable.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ... import raw
from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendAttributeType_t as Type
from .backend_records import Record
from .backend_words import CONVOLUTION, IGNORED, KINDS, TENSOR, Kind

__all__ = ["operation_graph"]

_DESCRIPTOR = Type.CUDNN_TYPE_BACKEND_DESCRIPTOR


def operation_graph(text: bytes | str) -> Record:
    """The record of the operation graph of a plan.

    Raises
    ------
    ValueError
        If it cannot be read; the message names the unknown part.
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
    _check(stored, TENSOR, "a tensor")
    record = Record(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, finalized=True)
    for word, value in {**stored, "name": int(stored["name"])}.items():
        if word == "isRagged":
            offset = tuple(_tensor(each) for each in value)
            record.values[Name.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC] = (_DESCRIPTOR, offset)
        else:
            _put(record, f"TENSOR_{TENSOR[word]}", value)
    return record


def _operation(node: Mapping[str, Any], tensors: Mapping[str, Record]) -> Record:
    name = node["operation"].removeprefix("CUDNN_BACKEND_OPERATION_").removesuffix("_DESCRIPTOR")
    if name not in KINDS:
        raise ValueError(f"the operation {name} is not known")
    kind = KINDS[name]
    _check(node, {*kind.tensors, *kind.options, *kind.parameters, *IGNORED}, name)
    record = Record(raw.cudnnBackendDescriptorType_t[node["operation"]], finalized=True)
    for word, port in kind.tensors.items():
        if word in node:
            attribute = Name[f"CUDNN_ATTR_OPERATION_{kind.prefix}_{port}"]
            record.values[attribute] = (_DESCRIPTOR, (tensors[node[word]],))
    for word, option in kind.options.items():
        if word in node:
            _put(record, f"OPERATION_{kind.prefix}_{option}", node[word])
    if kind.inner:
        attribute = Name[f"CUDNN_ATTR_OPERATION_{kind.prefix}_{kind.inner}"]
        record.values[attribute] = (_DESCRIPTOR, (_parameters(kind, node),))
    return record


def _parameters(kind: Kind, node: Mapping[str, Any]) -> Record:
    inner = Record(finalized=True)
    for word, attributes in kind.parameters.items():
        for attribute in attributes.split() if word in node else ():
            _put(inner, attribute, node[word])
    if kind.parameters is CONVOLUTION:
        _put(inner, "CONVOLUTION_COMP_TYPE", node["mathPrec"])
    return inner


def _put(record: Record, attribute: str, value: Any) -> None:
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
    record.values[Name[f"CUDNN_ATTR_{attribute}"]] = (type_, tuple(found))


def _check(stored: Mapping[str, Any], known: Any, what: str) -> None:
    unknown = stored.keys() - set(known)
    if unknown:
        raise ValueError(f"of {what} the words {', '.join(sorted(unknown))} are not known")
