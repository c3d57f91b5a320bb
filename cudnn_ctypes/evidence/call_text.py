"""A call as text: its arguments, its status, its time and its place in the program."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from typing import Any

from ..dtypes import as_data_type
from ..runtime.layout import layout_name
from .call_records import Argument, CallRecord
from .moment import Moment

__all__ = ["argument_text", "call_text", "line"]

WIDTH = 100
_INDENT = "    "
_TIME, _PLACE = 11, 22  # columns

_USUAL: dict[str, Any] = {
    "groups": 1,
    "math_type": "default_math",
    "reorder_type": "default_reorder",
    "nan_propagation": "not_propagate_nan",
    "clip_nan_propagation": "not_propagate_nan",
}
"""Values of descriptors that are usual and not shown; NULL and False are never shown."""

_HIDDEN = ("size_in_bytes", "strides")


def line(call: CallRecord, width: int = WIDTH) -> str:
    """A call as one line, or as several lines of at most `width` columns; 0 for one line always.

    Status, time and place are at the right edge of the last line, aligned over all calls.
    """
    end = _end(call)
    rows = _rows([*_pieces(call)], width) if width else [call_text(call)]
    if width and len(rows[-1]) + 2 + len(end) > width:
        rows.append("")
    space = max(2, width - len(rows[-1]) - len(end)) if width else 2
    rows[-1] = (rows[-1] + " " * space + end).rstrip()
    if call.failed and call.reason:
        rows.append(f"{_INDENT}! {_shortened(call.reason, width or 1000)}")
    for name, text in call.not_finite.items():
        rows.append(f"{_INDENT}! not finite: {name}: {text}")
    return "\n".join(rows)


def call_text(call: CallRecord) -> str:
    """A call without status, time and place."""
    return "".join(_pieces(call))


def place_text(call: CallRecord | Moment) -> str:
    """The file's name, without its folder, and the line."""
    return f"{os.path.basename(call.file)}:{call.line}" if call.file else "at exit"


def time_text(seconds: float) -> str:
    """A time in milliseconds, as text."""
    return f"{seconds * 1e3:.3f} ms" if seconds < 1 else f"{seconds:.3f} s"


def _end(call: CallRecord) -> str:
    place = place_text(call)
    if len(place) > _PLACE:
        place = f"…{place[1 - _PLACE :]}"
    return f"{call.status}  {time_text(call.seconds):>{_TIME}}  {place:<{_PLACE}}"


def _pieces(call: CallRecord) -> Iterator[str]:
    """The parts of a call's text between which a line may be broken."""
    if not call.arguments:
        yield f"{call.function}()"
        return
    yield f"{call.function}("
    described = _described(call)
    for position, argument in enumerate(call.arguments):
        last = position == len(call.arguments) - 1
        text = argument_text(argument, beside_descriptor=argument.name in described)
        yield text + (")" if last else ", ")


def _rows(parts: list[str], width: int) -> list[str]:
    rows = [""]
    longest = width - len(_INDENT)
    fitting = [
        each
        for part in parts
        for each in (
            [part] if len(part.rstrip()) <= longest else part.replace(", ", ", \0").split("\0")
        )
    ]
    for part in fitting:
        if rows[-1].strip() and len(rows[-1]) + len(part.rstrip()) > width:
            rows[-1] = rows[-1].rstrip()
            rows.append(_INDENT)
        rows[-1] += part
    return rows


def _shortened(text: str, length: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length - 6 else f"{text[: length - 7]}…"


def _described(call: CallRecord) -> set[str]:
    """Names of memory arguments whose descriptor is also an argument of the call."""
    shown = {
        argument.name
        for argument in call.arguments
        if isinstance(argument.value, dict) and "shape" in argument.value.get("holds", {})
    }
    describers = _describers(call.function)
    names = (argument.name for argument in call.arguments)
    return {name for name in names if shown.intersection(describers.get(name, ()))}


@functools.cache
def _describers(function: str) -> dict[str, tuple[str, ...]]:
    """The parameters that describe memory, by the name of the memory's parameter."""
    from .. import raw

    known = raw.FUNCTIONS.get(function)
    return {} if known is None else {p.name: p.described_by for p in known.parameters}


def argument_text(argument: Argument, *, beside_descriptor: bool = False) -> str:
    """``name=value``; ``name -> value`` for a value that the call wrote on the host."""
    value = argument.value
    if isinstance(value, dict) and value.get("object") == argument.name == "handle":
        return "handle"
    sign = " -> " if argument.out else "="
    return f"{argument.name}{sign}{_value(value, beside_descriptor)}"


def _value(value: Any, beside_descriptor: bool = False) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if not isinstance(value, dict):
        return str(value)
    if "object" in value:
        holds = value.get("holds")
        return value["object"] if holds is None else _held(holds)
    if "allocation" in value:
        return _memory(value, beside_descriptor)
    if "host" in value:
        return f"<host, {_bytes(value['host'])}>"
    fields = value.get("struct", value)
    return "{" + ", ".join(f"{name}={_value(each)}" for name, each in fields.items()) + "}"


def _held(holds: dict[str, Any]) -> str:
    """The values of a descriptor as text: ``(1, 3, 4, 4) float16 NHWC`` for a tensor."""
    if {"shape", "strides", "data_type"} <= holds.keys() and "axes" not in holds:
        return _tensor(holds)
    if "operations" in holds:
        return f"<{', '.join(holds['operations'])}>"
    shown = [
        f"{name}={_short(each)}"
        for name, each in holds.items()
        if each is not None and each is not False and each != _USUAL.get(name)
        if name not in _HIDDEN
    ]
    return "{" + ", ".join(shown) + "}"


def _short(value: Any) -> str:
    """A value as text; equal numbers (padding, strides) once: ``1`` for ``(1, 1)``."""
    if isinstance(value, list):
        return _value(value[0]) if value and value.count(value[0]) == len(value) else _tuple(value)
    return _value(value)


def _tuple(values: list[Any]) -> str:
    inside = ", ".join(map(_value, values))
    return f"({inside},)" if len(values) == 1 else f"({inside})"


def _tensor(said: dict[str, Any]) -> str:
    shape, strides = said["shape"], said["strides"]
    text = f"{_tuple(shape)} {said['data_type']}"
    layout = _layout(tuple(shape), tuple(strides), said["data_type"])
    return f"{text} {layout}" if layout else text


@functools.lru_cache(maxsize=256)
def _layout(shape: tuple[int, ...], strides: tuple[int, ...], data_type: str) -> str:
    """The name of a tensor's layout if it has one, else the strides."""
    if len(shape) >= 4:
        try:
            name = layout_name(shape, strides, as_data_type(data_type))
        except (TypeError, ValueError):
            name = None
        if name is not None:
            return name
    step, dense = 1, []
    for size in reversed(shape):
        dense.append(step)
        step *= size
    return "" if tuple(reversed(dense)) == strides else f"strides {strides}"


def _memory(place: dict[str, Any], beside_descriptor: bool) -> str:
    where = f"{place['allocation']}+{place['offset']}"
    if "shape" in place and not beside_descriptor:
        return f"<{_tensor(place)} at {where}>"
    return f"<{where}, {_bytes(place['nbytes'])}>" if "nbytes" in place else f"<{where}>"


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            number = count / size
            return f"{number:.0f} {unit}" if number == int(number) else f"{number:.1f} {unit}"
    return f"{count} B"
