"""Results as HTML for notebooks: a title, pictures, and tables that scroll."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path

from .diagram import plain

_FONT = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45"
_CELL = "padding:2px 10px;vertical-align:top"
_HEAD = f"{_CELL};border-bottom:1px solid currentColor;font-weight:600;white-space:nowrap"
_TALL = 24  # a table with more rows scrolls


@dataclass(frozen=True)
class Table:
    """Rows of text.

    - `numbers`: columns that are right-aligned.
    - `colors`: the colours of the stripes before the rows, "" for none; empty for no stripes.
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

    - `title`: plain text; the first line is bold.
    - `parts`: HTML elements.
    """
    first, *others = title.splitlines() or [""]
    lines = [f"<b>{escape(plain(first))}</b>", *(escape(plain(line)) for line in others)]
    return f'<div style="{_FONT}"><div>{"<br/>".join(lines)}</div>{"".join(parts)}</div>'


_MOVE = (
    "for(const each of this.parentNode.querySelectorAll('[data-step]'))"
    "each.style.display=each.dataset.step===this.value?'':'none'"
)


@dataclass(frozen=True, repr=False)
class Slider:
    """A picture with steps and a slider that moves through them, for notebooks and pages.

    - `picture`: HTML or SVG, in which elements with ``data-step`` are shown one at a time.
    """

    title: str
    picture: str
    steps: int

    def _repr_html_(self) -> str:
        return (
            f'<div>{wide(self.picture)}<input type="range" min="0" max="{self.steps - 1}" '
            f'value="0" aria-label="{escape(self.title)}" style="width:min(36em,95%)" '
            f'oninput="{_MOVE}"/></div>'
        )

    def __repr__(self) -> str:
        return f"{self.title}: {self.steps} steps"

    def save(self, path: str | PathLike[str]) -> None:
        """Write a page with the picture and its slider."""
        Path(path).write_text(whole_page(self.title, self._repr_html_()), encoding="utf-8")


def whole_page(title: str, body: str) -> str:
    """A page of HTML."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title></head><body>{body}</body></html>"
    )


def wide(picture: str) -> str:
    """A picture in an element that scrolls if the page is too narrow."""
    return f'<div style="overflow-x:auto">{picture}</div>'
