"""Diagrams as SVG."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence
from html import escape

from .diagram import Box, Diagram, Layout, Place, layout

FONT = "system-ui, 'DejaVu Sans', 'Segoe UI', Helvetica, Arial, sans-serif"
_SIZE = 12
_LINE = 16.0
_PADDING = 10.0
_EDGE = 10.0  # margin around the picture
_NARROWEST = 400.0  # the smallest width, for the caption

# Letters narrower or wider than most, in DejaVu Sans, which is a wide font.
_THIN = frozenset("iIjl.,:;'|!()[]{}tfr-/ ")
_BROAD = frozenset("mwMW@%…")

_FILLS = {"operation": "#4a90d9", "input": "#8a8f98", "output": "#3fa66a", "number": "#c9a227"}
_REGION = "#8e5bd0"
_ORIGINS = ("#d97a3a", "#2aa5a0", "#c2528b", "#7c9a2d", "#5b6bd0", "#a0703c")
_STANDALONE = ' color="#1f2328"'


def text_width(text: str, size: float = _SIZE, *, bold: bool = False) -> float:
    """The approximate width of a text in a sans-serif font; too wide rather than too narrow."""
    ems = 0.0
    for letter in text:
        if unicodedata.east_asian_width(letter) in "WF":
            ems += 1.05
        elif letter in _THIN:
            ems += 0.42
        elif letter in _BROAD:
            ems += 1.0
        else:
            ems += 0.72 if letter.isupper() else 0.64
    return ems * size * (1.1 if bold else 1.0)


def svg(diagram: Diagram, *, standalone: bool = True) -> str:
    """The picture as the text of an ``<svg>`` element.

    Parameters
    ----------
    diagram : Diagram
    standalone : bool
        True for a separate file, False for a part of a page.
    """
    found = layout(diagram, [_size(box) for box in diagram.boxes])
    width = max(found.width, _NARROWEST)
    caption = _caption(diagram, width)
    shift = (width - found.width) / 2 + _EDGE
    top = _EDGE + len(caption) * _LINE + (_LINE / 2 if diagram.boxes else 0)
    body = [f'<g transform="translate({shift:.1f} {top:.1f})">']
    body += _region(diagram, found)
    body += _arrows(diagram, found)
    for box, place in zip(diagram.boxes, found.places, strict=True):
        body += _box(box, place)
    body.append("</g>")
    size = (width + 2 * _EDGE, top + found.height + _EDGE)
    return document(diagram.name, size, [*caption, *body], standalone=standalone)


def document(
    title: str, size: tuple[float, float], parts: Sequence[str], *, standalone: bool
) -> str:
    """The ``<svg>`` element with a title, a width and height, and the parts."""
    width, height = size
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.1f} {height:.1f}" font-family="{FONT}" font-size="{_SIZE}" '
            f'fill="currentColor" role="img"{_STANDALONE if standalone else ""}>',
            f"<title>{escape(title)}</title>",
            '<rect width="100%" height="100%" fill="#fff"/>' if standalone else "",
            *parts,
            "</svg>",
        ]
    )


def _size(box: Box) -> tuple[float, float]:
    widths = [text_width(line, bold=i == 0) for i, line in enumerate(box.lines)]
    return max(widths) + 2 * _PADDING, len(box.lines) * _LINE + _PADDING


# --- the caption ---------------------------------------------------------------------------------


def _caption(diagram: Diagram, width: float) -> list[str]:
    """Lines with the name, the engine and its knobs, and the meanings of the stripes' colours."""
    lines = [_text(_EDGE, _EDGE + _LINE - 4, _cut(diagram.name, width), bold=True)]

    def legend(color: str, texts: Sequence[str]) -> None:
        wrapped = [line for text in texts for line in _wrapped(text, width - 20)]
        for i, text in enumerate(wrapped):
            y = _EDGE + len(lines) * _LINE
            line = _text(_EDGE + 18, y + _LINE - 4, text)
            lines.append((_swatch(_EDGE, y + 3, color) if i == 0 else "") + line)

    if diagram.region is not None:
        legend(_REGION, (diagram.region.title, *diagram.region.facts))
    for i, origin in enumerate(diagram.origins):
        legend(_ORIGINS[i % len(_ORIGINS)], (f"parts of {origin}",))
    return lines


def _cut(text: str, width: float) -> str:
    while text_width(text, bold=True) > width and len(text) > 2:
        text = f"{text[:-2]}…"
    return text


def _wrapped(text: str, width: float) -> list[str]:
    """The words of a text on as few lines as possible; words that are too long are broken."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer) <= width:
            lines[-1] = longer
        elif text_width(word) <= width:
            lines.append(word)
        else:
            lines[-1:] = _broken(longer, width)
    return [line for line in lines if line]


def _broken(text: str, width: float) -> list[str]:
    """Break a text into lines, after an underscore (names of kernels have them) if possible."""
    lines = [""]
    for letter in text:
        if text_width(lines[-1] + letter) > width:
            head, underscore, tail = lines[-1].rpartition("_")
            lines[-1:] = [head + underscore, tail] if head else [lines[-1], ""]
        lines[-1] += letter
    return lines


def _swatch(x: float, y: float, color: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="11" height="11" rx="2" fill="{color}" '
        f'fill-opacity="0.35" stroke="{color}"/>'
    )


# --- boxes and arrows ----------------------------------------------------------------------------


def _region(diagram: Diagram, found: Layout) -> list[str]:
    if diagram.region is None or found.region is None:
        return []
    left, top, right, bottom = found.region
    return [
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{bottom - top:.1f}" rx="10" fill="{_REGION}" fill-opacity="0.10" '
        f'stroke="{_REGION}" stroke-dasharray="5 4"/>'
    ]


def _box(box: Box, place: Place) -> list[str]:
    left, top = place.x - place.width / 2, place.y - place.height / 2
    color = _FILLS[box.role]
    round_ = 5 if box.role == "operation" else place.height / 2.4
    parts = [
        f"<g><title>{escape(box.details)}</title>",
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{place.width:.1f}" '
        f'height="{place.height:.1f}" rx="{round_:.1f}" fill="{color}" fill-opacity="0.22" '
        f'stroke="{color}"/>',
    ]
    if box.origin is not None:
        stripe = _ORIGINS[box.origin % len(_ORIGINS)]
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="5" height="{place.height:.1f}" rx="2" '
            f'fill="{stripe}"/>'
        )
    y = top + _PADDING / 2 + _LINE - 4
    for i, line in enumerate(box.lines):
        parts.append(_text(place.x, y + i * _LINE, line, bold=i == 0, middle=True))
    return [*parts, "</g>"]


def _text(x: float, y: float, text: str, *, bold: bool = False, middle: bool = False) -> str:
    attributes = ' text-anchor="middle"' if middle else ""
    attributes += ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{escape(text)}</text>'


def _arrows(diagram: Diagram, found: Layout) -> list[str]:
    """Curves from a box's bottom to another's top; the ends at one box are spread out."""
    entries: dict[int, list[int]] = {}
    for i, path in enumerate(found.paths):
        entries.setdefault(id(path[-1]), []).append(i)
    ends: dict[int, float] = {}
    for arrows in entries.values():
        arrows.sort(key=lambda i: found.paths[i][-2].x)
        head = found.paths[arrows[0]][-1]
        reach = head.width * 0.3
        if len(arrows) == 1:  # straight down, if possible
            ends[arrows[0]] = min(max(found.paths[arrows[0]][-2].x, head.x - reach), head.x + reach)
            continue
        for place, i in enumerate(arrows, 1):
            ends[i] = head.x + head.width * 0.8 * (place / (len(arrows) + 1) - 0.5)
    return [
        _arrow(arrow.details, path, ends[i])
        for i, (arrow, path) in enumerate(zip(diagram.arrows, found.paths, strict=True))
    ]


def _arrow(details: str, path: Sequence[Place], end: float) -> str:
    tail, head = path[0], path[-1]
    points = [(tail.x, tail.y + tail.height / 2)]
    for bend in path[1:-1]:  # curved between rows, straight down within a row
        points += [(bend.x, bend.y - bend.height / 2), (bend.x, bend.y + bend.height / 2)]
    tip = head.y - head.height / 2
    points.append((end, tip - 6))
    curve = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x, y), (next_x, next_y) in itertools.pairwise(points):
        half = (y + next_y) / 2
        curve.append(
            f"L{x:.1f} {next_y:.1f}"
            if x == next_x
            else f"C{x:.1f} {half:.1f} {next_x:.1f} {half:.1f} {next_x:.1f} {next_y:.1f}"
        )
    return (
        f"<g><title>{escape(details)}</title>"
        f'<path d="{"".join(curve)}" fill="none" stroke="currentColor" stroke-opacity="0.65" '
        f'stroke-width="1.2"/><path d="M{end - 4:.1f} {tip - 8:.1f}h8l-4 8z" '
        f'fill-opacity="0.75"/></g>'
    )
