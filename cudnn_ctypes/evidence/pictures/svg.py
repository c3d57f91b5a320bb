"""Pictures as SVG: a canvas, and diagrams drawn on it."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Sequence
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
HIDDEN = ' style="display:none"'


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


PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f7fc9", "#9a8f00")
"""Colours that are distinguishable with every kind of colour vision."""


class Canvas:
    """A picture that grows with its contents, and may have steps, of which one is shown.

    - `title`: the title, which screen readers read out.
    - `margin`: free space right of the contents and below.
    """

    def __init__(self, title: str, margin: float = 12.0) -> None:
        self._title = title
        self._margin = margin
        self._parts: list[str] = []
        self._steps: list[list[str]] = []
        self._right = self._bottom = 0.0

    def step(self) -> None:
        """Begin a step: what is drawn from now on is shown in this step alone."""
        self._steps.append([])

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self._steps)

    def reach(self, right: float, bottom: float) -> None:
        """Make the picture at least so large."""
        self._right, self._bottom = max(self._right, right), max(self._bottom, bottom)

    def part(self, element: str) -> None:
        """Draw an element of SVG, within what the picture has reached."""
        (self._steps[-1] if self._steps else self._parts).append(element)

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        color: str = "currentColor",
        *,
        fill: float = 0.0,
        line: float = 1.0,
        dashed: bool = False,
        round_: float = 2.0,
        tip: str = "",
    ) -> None:
        """Draw a rectangle with its top left corner at (x, y), fill opacity and line width."""
        stroke = f'stroke="{color}" stroke-width="{line:g}"' if line else ""
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        body = (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="{round_:g}" fill="{color if fill else "none"}" fill-opacity="{fill:g}" '
            f"{stroke}{dashes}"
        )
        tips = f"<title>{escape(tip)}</title>" if tip else ""
        self.part(f"{body}>{tips}</rect>" if tips else f"{body}/>")
        self.reach(x + width, y + height)

    def cells(
        self,
        corners: Iterable[tuple[float, float]],
        width: float,
        height: float,
        color: str,
        *,
        fill: float = 0.55,
    ) -> None:
        """Draw equal rectangles by their top left corners, as one element, which is small."""
        corners = list(corners)
        for x, y in corners:
            self.reach(x + width, y + height)
        path = "".join(f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z" for x, y in corners)
        style = f'fill="{color}" fill-opacity="{fill:g}" stroke="{color}" stroke-width="0.8"'
        self.part(f'<path d="{path}" {style}/>')

    def line(
        self, x: float, y: float, to_x: float, to_y: float, color: str = "currentColor"
    ) -> None:
        """Draw a line with an arrow at its end."""
        self.part(
            f'<path d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" stroke="{color}" fill="none" '
            f'stroke-width="1.5"/>'
        )
        down = abs(to_y - y) > abs(to_x - x)
        tip = "l-3.5 -7h7z" if down else "l-7 -3.5v7z"
        self.part(f'<path d="M{to_x:.1f} {to_y:.1f}{tip}" fill="{color}"/>')
        self.reach(max(x, to_x), max(y, to_y))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = _SIZE,
        bold: bool = False,
        anchor: str = "start",
        pale: bool = False,
    ) -> None:
        """Draw a line of text on the base line `y`; x is its start, middle or end."""
        style = f' font-size="{size:g}"' if size != _SIZE else ""
        style += ' font-weight="600"' if bold else ""
        style += f' text-anchor="{anchor}"' if anchor != "start" else ""
        style += ' fill-opacity="0.65"' if pale else ""
        self.part(f'<text x="{x:.1f}" y="{y:.1f}"{style}>{escape(text)}</text>')
        width = text_width(text, size, bold=bold)
        self.reach(x + width * {"start": 1.0, "middle": 0.5, "end": 0.0}[anchor], y + size / 3)

    def svg(self, *, standalone: bool = True) -> str:
        """The ``<svg>`` element; `standalone` for a separate file, False for a part of a page."""
        width, height = self._right + self._margin, self._bottom + self._margin
        steps = (
            f'<g data-step="{i}"{HIDDEN if i else ""}>{"".join(parts)}</g>'
            for i, parts in enumerate(self._steps)
        )
        return "".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
                f'height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" '
                f'font-family="{FONT}" font-size="{_SIZE}" fill="currentColor" role="img"'
                f"{_STANDALONE if standalone else ''}>",
                f"<title>{escape(self._title)}</title>",
                '<rect width="100%" height="100%" fill="#fff"/>' if standalone else "",
                *self._parts,
                *steps,
                "</svg>",
            ]
        )


# --- diagrams ------------------------------------------------------------------------------------


def svg(diagram: Diagram, *, standalone: bool = True) -> str:
    """A diagram as the text of an ``<svg>`` element.

    - `standalone`: True for a separate file, False for a part of a page.
    """
    found = layout(diagram, [_size(box) for box in diagram.boxes])
    width = max(found.width, _NARROWEST)
    canvas = Canvas(diagram.name, _EDGE)
    count = _caption(canvas, diagram, width)
    shift = (width - found.width) / 2 + _EDGE
    top = _EDGE + count * _LINE + (_LINE / 2 if diagram.boxes else 0)
    canvas.part(f'<g transform="translate({shift:.1f} {top:.1f})">')
    if diagram.region is not None and found.region is not None:
        left, upper, right, lower = found.region
        size = right - left, lower - upper
        canvas.rectangle(left, upper, *size, _REGION, fill=0.10, dashed=True, round_=10)
    for arrow in _arrows(diagram, found):
        canvas.part(arrow)
    for box, place in zip(diagram.boxes, found.places, strict=True):
        _box(canvas, box, place)
    canvas.part("</g>")
    canvas.reach(width + _EDGE, top + found.height)
    return canvas.svg(standalone=standalone)


def _size(box: Box) -> tuple[float, float]:
    widths = [text_width(line, bold=i == 0) for i, line in enumerate(box.lines)]
    return max(widths) + 2 * _PADDING, len(box.lines) * _LINE + _PADDING


def _caption(canvas: Canvas, diagram: Diagram, width: float) -> int:
    """Draw the name, the engine and its knobs, and the stripes' meanings; return the lines."""
    canvas.text(_EDGE, _EDGE + _LINE - 4, _cut(diagram.name, width), bold=True)
    entries = [
        (_ORIGINS[i % len(_ORIGINS)], [f"parts of {origin}"])
        for i, origin in enumerate(diagram.origins)
    ]
    if diagram.region is not None:
        entries.insert(0, (_REGION, [diagram.region.title, *diagram.region.facts]))
    count = 1
    for color, texts in entries:
        canvas.rectangle(_EDGE, _EDGE + count * _LINE + 3, 11, 11, color, fill=0.35)
        for line in itertools.chain.from_iterable(_wrapped(text, width - 20) for text in texts):
            count += 1
            canvas.text(_EDGE + 18, _EDGE + count * _LINE - 4, line)
    return count


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


def _box(canvas: Canvas, box: Box, place: Place) -> None:
    left, top = place.x - place.width / 2, place.y - place.height / 2
    color = _FILLS[box.role]
    round_ = 5 if box.role == "operation" else place.height / 2.4
    canvas.part(f"<g><title>{escape(box.details)}</title>")
    canvas.rectangle(left, top, place.width, place.height, color, fill=0.22, round_=round_)
    if box.origin is not None:
        stripe = _ORIGINS[box.origin % len(_ORIGINS)]
        canvas.rectangle(left, top, 5, place.height, stripe, fill=1, line=0)
    y = top + _PADDING / 2 + _LINE - 4
    for i, line in enumerate(box.lines):
        canvas.text(place.x, y + i * _LINE, line, bold=i == 0, anchor="middle")
    canvas.part("</g>")


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
