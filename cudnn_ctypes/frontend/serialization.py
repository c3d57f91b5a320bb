"""Built graphs as bytes, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ..dtypes import as_data_type, data_type_name
from ..graph.describe.serialization import FORMAT
from ..graph.describe.tensor import Tensor
from ..graph.run.plan import ExecutionPlan
from .tensors import tensor

__all__ = ["describes_graph", "restored", "stored"]

_FORMAT = "cudnn_ctypes frontend plan"
_VERSION = 1
_PYTHON_PLAN = b"CUDNN_FE_PYPLAN\0"  # how NVIDIA's plans of Python engines begin


def describes_graph(data: Any) -> bool:
    """Whether `data` is the text of a graph, and not of a plan."""
    try:
        document = json.loads(data) if isinstance(data, (str, bytes)) else None
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def stored(plan: ExecutionPlan, tensors: Iterable[Tensor]) -> bytes:
    """A plan with the operands that its execution needs, as UTF-8 JSON."""
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "tensors": [_entry(each) for each in tensors if not each.virtual],
        "plan": plan.to_json(),
    }
    return json.dumps(document).encode()


def restored(data: Any, device: Any) -> tuple[ExecutionPlan, list[tensor]]:
    """The plan and the tensors that `stored` wrote.

    Parameters
    ----------
    data : bytes, str, or sequence of int
    device : Handle or DeviceProperties

    Raises
    ------
    ValueError
        If the data are damaged, or the plan is for another cuDNN version or GPU.
    """
    document = _document(data)
    try:
        tensors = [_tensor(entry) for entry in document["tensors"]]
        text = document["plan"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this serialized graph is damaged: {error!r}") from None
    plan = ExecutionPlan.from_json(text, device=device)
    return plan, tensors


def _entry(each: Tensor) -> dict[str, Any]:
    if each.scratch:
        raise ValueError(
            f"{each!r} is memory that lies in the workspace: such a graph cannot be serialized; "
            "build it again"
        )
    value = each.value
    return {
        "uid": each.uid,
        "name": each.name,
        "dims": each.dims,
        "strides": each.strides,
        "data_type": None if each.data_type is None else data_type_name(each.data_type),
        "by_value": each.by_value,
        "value": None if value is None else float(value),
        "ragged": each.ragged_offset is not None,
        "view_of": getattr(each, "view_of", None),
    }


def _tensor(entry: Any) -> tensor:
    data_type = entry["data_type"]
    value = entry["value"]
    result = tensor(
        name=str(entry["name"]),
        dims=tuple(map(int, entry["dims"])),
        strides=tuple(map(int, entry["strides"])),
        data_type=None if data_type is None else as_data_type(data_type),
        uid=int(entry["uid"]),
        by_value=bool(entry["by_value"]),
        value=None if value is None else float(value),
    )
    if entry["view_of"] is not None:
        uid, offset = entry["view_of"]
        result.view_of = (int(uid), int(offset))
    if entry["ragged"]:
        # How much memory it takes is in its offsets; only that it has some is known here.
        result.ragged_offset = Tensor()
    return result


def _nvidias(data: str | bytes) -> str:
    """The kind of data of NVIDIA's front end, told by the first bytes; "" for other data."""
    start = data[:16] if isinstance(data, bytes) else data[:16].encode("utf-8", "replace")
    if start == _PYTHON_PLAN:
        return "a plan of one of its own kernels"
    # UBJSON: a letter for the type of a key's length follows. In JSON only '"', "}" or a space can.
    if start[:1] == b"{" and start[1:2] in b"iUIlL" and len(start) > 1:
        return "a serialized graph (UBJSON with a plan of cuDNN's in it)"
    return ""


def _document(data: Any) -> dict[str, Any]:
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        try:
            data = bytes(data)
        except (TypeError, ValueError):
            raise TypeError("expected what serialize() gave: a sequence of byte values") from None
    if isinstance(data, (bytearray, memoryview)):
        data = bytes(data)
    if not isinstance(data, (str, bytes)):
        raise TypeError(f"expected what serialize() gave, got a {type(data).__name__}")
    theirs = _nvidias(data)
    if theirs:
        raise ValueError(
            f"this is {theirs}, which NVIDIA's front end wrote and this one does not read: "
            "describe the graph with this one, and serialize it anew"
        )
    try:
        document = json.loads(data)
    except ValueError as error:
        raise ValueError(f"this serialized graph is damaged: {error}") from None
    if isinstance(document, dict) and "cudnn_frontend_version" in document:
        raise ValueError(
            "this is the text of a graph of NVIDIA's front end, which this one does not read: "
            "describe the graph with this one"
        )
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ValueError("this is no graph that cudnn_ctypes.frontend serialized")
    if document.get("version") != _VERSION:
        raise ValueError(f"serialized by another release (version {document.get('version')!r})")
    return document
