"""Results as HTML for notebooks: a title, pictures, and tables that scroll."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from .diagram import plain

_FONT = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45"
_CELL = "padding:2px 10px;vertical-align:top"
_HEAD = f"{_CELL};border-bottom:1px solid currentColor;font-weight:600;white-space:nowrap"
_TALL = 24  # a table with more rows scrolls


@dataclass(frozen=True)
class Table:
    """Rows of text.

    Attributes
    ----------
    columns : sequence of str
    rows : sequence of sequences of str
    numbers : collection of str
        Columns that are right-aligned.
    colors : sequence of str
        The colours of the stripes before the rows, "" for none; empty for no stripes.
    title : str
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Collection[str] = ()
    colors: Sequence[str] = field(default=())
    title: str = ""

    def html(self) -> str:
        """The ``<table>``; a table with many rows is in a scrolling element."""
        head = "".join(self._cell("th", _HEAD, name, name) for name in self.columns)
        body = "".join(
            f"<tr>{''.join(self._row(row, self.colors[i] if self.colors else ''))}</tr>"
            for i, row in enumerate(self.rows)
        )
        table = (
            '<table style="border-collapse:collapse;margin:4px 0 10px;font:inherit">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
        if len(self.rows) > _TALL:
            table = f'<div style="max-height:34em;overflow:auto">{table}</div>'
        title = f'<div style="font-weight:600;margin-top:8px">{escape(plain(self.title))}</div>'
        return (title if self.title else "") + table

    def _row(self, row: Sequence[str], color: str) -> Iterable[str]:
        for i, (name, text) in enumerate(zip(self.columns, row, strict=True)):
            stripe = f";border-left:4px solid {color}" if color and i == 0 else ""
            yield self._cell("td", _CELL + stripe, name, text)

    def _cell(self, tag: str, style: str, column: str, text: str) -> str:
        side = "right" if column in self.numbers else "left"
        return f'<{tag} style="{style};text-align:{side}">{escape(plain(text))}</{tag}>'


def page(title: str, parts: Iterable[str]) -> str:
    """A part of a page.

    Parameters
    ----------
    title : str
        Plain text; the first line is bold.
    parts : iterable of str
        HTML elements.
    """
    first, *others = title.splitlines() or [""]
    lines = [f"<b>{escape(plain(first))}</b>", *(escape(plain(line)) for line in others)]
    return f'<div style="{_FONT}"><div>{"<br/>".join(lines)}</div>{"".join(parts)}</div>'


def wide(picture: str) -> str:
    """A picture in an element that scrolls if the page is too narrow."""
    return f'<div style="overflow-x:auto">{picture}</div>'
