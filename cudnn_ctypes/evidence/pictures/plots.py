"""Bar charts of engine configs' times, as SVG and with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .diagram import plain
from .svg import Canvas, text_width

_ROW = 20.0
_LENGTH = 380.0  # length of the longest bar
_COLOR, _BEST, _PALE = "#4a90d9", "#3fa66a", "#8a8f98"
_MOST = 24  # bars in one picture
_LONGEST = 56  # characters of a label


@dataclass(frozen=True)
class Bar:
    """One measurement.

    - `low`, `middle`, `high`: first quartile, median, third quartile.
    """

    label: str
    low: float
    middle: float
    high: float
    kind: str = ""


def _color(bar: Bar) -> str:
    return {"best": _BEST, "pale": _PALE}.get(bar.kind, _COLOR)


def _label(bar: Bar) -> str:
    text = plain(bar.label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def bars(measured: Sequence[Bar], unit: str) -> str:
    """Horizontal bars from 0 to the median, with whiskers between quartiles, as an ``<svg>``."""
    shown = measured[:_MOST]
    if not shown:
        return ""
    longest = max(bar.high for bar in shown) or 1.0
    left = max(text_width(_label(bar)) for bar in shown) + 14
    canvas = Canvas("times", 4)
    for i, bar in enumerate(shown):
        _bar(canvas, bar, unit, i * _ROW + 4, left, _LENGTH / longest)
    if len(measured) > len(shown):
        canvas.text(left, len(shown) * _ROW + 18, f"and {len(measured) - len(shown)} more")
    return canvas.svg(standalone=False)


def _bar(canvas: Canvas, bar: Bar, unit: str, top: float, left: float, scale: float) -> None:
    low, high, middle = left + bar.low * scale, left + bar.high * scale, top + _ROW / 2
    tip = f"{plain(bar.label)}: {bar.low:.2f} to {bar.high:.2f}"
    canvas.text(left - 8, middle + 4, _label(bar), anchor="end")
    size = bar.middle * scale, _ROW - 6
    canvas.rectangle(left, top + 3, *size, _color(bar), fill=0.55, line=0, tip=tip)
    canvas.part(
        f'<path d="M{low:.1f} {middle:.1f}H{high:.1f}M{low:.1f} {middle - 3:.1f}v6'
        f'M{high:.1f} {middle - 3:.1f}v6" stroke="currentColor" stroke-opacity="0.8"/>'
    )
    end = max(high, left + bar.middle * scale)
    canvas.text(end + 6, middle + 4, f"{bar.middle:.1f} {unit}")


def import_pyplot() -> Any:
    """The module ``matplotlib.pyplot``; ImportError says how to install it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"plots need matplotlib (pip install matplotlib): {error}") from error
    return pyplot


def axes(measured: Sequence[Bar], title: str, unit: str, into: Any = None) -> Any:
    """Draw the bars on matplotlib axes: `into`, or new axes.

    Raises ImportError if matplotlib is missing; the message says how to install it.
    """
    pyplot = import_pyplot()
    if into is None:
        _, into = pyplot.subplots(figsize=(8, 1.2 + 0.3 * len(measured)), layout="constrained")
    places = range(len(measured))
    middles = [bar.middle for bar in measured]
    spread = [
        [bar.middle - bar.low for bar in measured],
        [bar.high - bar.middle for bar in measured],
    ]
    colors = [_color(bar) for bar in measured]
    into.barh(places, middles, xerr=spread, color=colors, alpha=0.7, capsize=2)
    labels = [_label(bar).replace("$", r"\$") for bar in measured]  # a plain $ starts mathematics
    into.set_yticks(places, labels)
    into.invert_yaxis()
    into.set_xlabel(unit)
    into.set_title(title.replace("$", r"\$"), fontsize="medium", loc="left")
    return into
