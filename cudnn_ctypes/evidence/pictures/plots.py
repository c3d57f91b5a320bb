"""Bar charts of engine configs' times, as SVG and with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .diagram import plain
from .svg import FONT, text_width

_ROW = 20.0
_LENGTH = 380.0  # length of the longest bar
_COLOR, _BEST, _PALE = "#4a90d9", "#3fa66a", "#8a8f98"
_MOST = 24  # bars in one picture
_LONGEST = 56  # characters of a label


@dataclass(frozen=True)
class Bar:
    """One measurement.

    Attributes
    ----------
    label : str
    low, middle, high : float
        First quartile, median, third quartile.
    kind : {"best", "", "pale"}
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
    numbers = [f"{bar.middle:.1f} {unit}" for bar in shown]
    width = left + _LENGTH + max(map(text_width, numbers)) + 16
    left_out = len(measured) - len(shown)
    height = (len(shown) + (left_out > 0)) * _ROW + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}" font-family="{FONT}" font-size="12" '
        f'fill="currentColor" role="img">'
    ]
    for i, (bar, number) in enumerate(zip(shown, numbers, strict=True)):
        parts.append(_bar(bar, number, i * _ROW + 4, left, _LENGTH / longest))
    if left_out:
        text = f"and {left_out} more"
        parts.append(f'<text x="{left:.1f}" y="{height - 8:.1f}">{escape(text)}</text>')
    return "".join([*parts, "</svg>"])


def _bar(bar: Bar, number: str, top: float, left: float, scale: float) -> str:
    end, middle = left + bar.middle * scale, top + _ROW / 2
    low, high = left + bar.low * scale, left + bar.high * scale
    color = _color(bar)
    return (
        f"<g><title>{escape(f'{plain(bar.label)}: {bar.low:.2f} to {bar.high:.2f}')}</title>"
        f'<text x="{left - 8:.1f}" y="{middle + 4:.1f}" text-anchor="end">'
        f"{escape(_label(bar))}</text>"
        f'<rect x="{left:.1f}" y="{top + 3:.1f}" width="{end - left:.1f}" height="{_ROW - 6:.1f}" '
        f'rx="2" fill="{color}" fill-opacity="0.55"/>'
        f'<path d="M{low:.1f} {middle:.1f}H{high:.1f}M{low:.1f} {middle - 3:.1f}v6'
        f'M{high:.1f} {middle - 3:.1f}v6" stroke="currentColor" stroke-opacity="0.8"/>'
        f'<text x="{max(high, end) + 6:.1f}" y="{middle + 4:.1f}">{escape(number)}</text></g>'
    )


def import_pyplot() -> Any:
    """The module ``matplotlib.pyplot``; ImportError says how to install it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"plots need matplotlib (pip install matplotlib): {error}") from error
    return pyplot


def axes(measured: Sequence[Bar], title: str, unit: str, into: Any = None) -> Any:
    """Draw the bars on matplotlib axes: `into`, or new axes.

    Raises
    ------
    ImportError
        If matplotlib is missing; the message says how to install it.
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
