"""A canvas for rectangles, lines and texts; the ``<svg>`` is as large as its contents."""

from __future__ import annotations

from html import escape

from .svg import document, text_width

__all__ = ["PALETTE", "Canvas"]

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f7fc9", "#9a8f00")
"""Colours that are distinguishable with every kind of colour vision."""

_EDGE = 12.0


class Canvas:
    """A picture that grows with its contents.

    Parameters
    ----------
    title : str
        The title, which screen readers read out.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._parts: list[str] = []
        self._right = self._bottom = 0.0

    def _reach(self, right: float, bottom: float) -> None:
        self._right, self._bottom = max(self._right, right), max(self._bottom, bottom)

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
        tip: str = "",
    ) -> None:
        """Draw a rectangle with its top left corner at (x, y), fill opacity and line width."""
        stroke = f'stroke="{color}" stroke-width="{line:g}"' if line else ""
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        body = (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" '
            f'fill="{color if fill else "none"}" fill-opacity="{fill:g}" {stroke}{dashes}'
        )
        tips = f"<title>{escape(tip)}</title>" if tip else ""
        self._parts.append(f"{body}>{tips}</rect>" if tips else f"{body}/>")
        self._reach(x + width, y + height)

    def line(
        self, x: float, y: float, to_x: float, to_y: float, color: str = "currentColor"
    ) -> None:
        """Draw a line with an arrow at its end."""
        self._parts.append(
            f'<path d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" stroke="{color}" fill="none" '
            f'stroke-width="1.5"/>'
        )
        down = abs(to_y - y) > abs(to_x - x)
        tip = "l-3.5 -7h7z" if down else "l-7 -3.5v7z"
        self._parts.append(f'<path d="M{to_x:.1f} {to_y:.1f}{tip}" fill="{color}"/>')
        self._reach(max(x, to_x), max(y, to_y))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 12,
        bold: bool = False,
        middle: bool = False,
        pale: bool = False,
    ) -> None:
        """Draw a line of text on the base line `y`, beginning at `x` or centred there."""
        style = f' font-size="{size:g}"' if size != 12 else ""
        style += ' font-weight="600"' if bold else ""
        style += ' text-anchor="middle"' if middle else ""
        style += ' fill-opacity="0.65"' if pale else ""
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{style}>{escape(text)}</text>')
        width = text_width(text, size, bold=bold)
        self._reach(x + (width / 2 if middle else width), y + size / 3)

    def svg(self, *, standalone: bool = True) -> str:
        """The ``<svg>`` element; `standalone` for a separate file."""
        size = self._right + _EDGE, self._bottom + _EDGE
        return document(self._title, size, self._parts, standalone=standalone)
