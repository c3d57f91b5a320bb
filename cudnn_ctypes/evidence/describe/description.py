"""A description: words, tables, and one picture."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from ...dtypes import data_type_name
from ...graph.engines.explaining.report import Table
from ...raw.ctypes_support import CudnnEnum, short_name
from ...raw.describe import aligned
from ...raw.enums import cudnnDataType_t
from ..pictures.html import Slider, page, whole_page, wide

_WIDTH = 100
_INDENT = "  "
_LINE = "margin:1px 0 1px 1.2em;text-indent:-0.6em"


@dataclass(frozen=True)
class Section:
    """A part of a description.

    - `title`: "" for the first part, which follows the description's title.
    - `lines`: lines with one fact each.
    - `table`: a table below the lines.
    - `text`: preformatted text below the table.
    """

    title: str = ""
    lines: tuple[str, ...] = ()
    table: Table | None = None
    text: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """The result of `describe`: ``print`` shows words, a notebook shows words and the picture.

    Attributes
    ----------
    title : str
    sections : tuple of Section
    picture : callable, optional
        Draws the picture as SVG, with ``standalone=False`` for a part of a page; None without a
        picture.
    moving : callable, optional
        Draws the picture with a slider; None without one.

    Examples
    --------
    >>> from cudnn_ctypes import TensorDescriptor, describe
    >>> with TensorDescriptor((1, 2, 2, 2), "float32", layout="NHWC") as x:
    ...     description = describe(x)
    >>> description.save("x.svg")
    """

    title: str
    sections: tuple[Section, ...] = ()
    picture: Callable[..., str] | None = None
    moving: Callable[[], Slider] | None = None

    def slider(self) -> Slider:
        """The picture in steps, with a slider, which a notebook shows.

        Returns
        -------
        Slider
            Of a convolution or a pooling: the window at each of its places, and its column of
            im2col. Of a tensor of images: its memory, number by number, read in two layouts. Of
            several graphs: one after the other.

        Raises
        ------
        ValueError
            If there are no steps to show.
        """
        if self.moving is None:
            raise ValueError(f"there is no picture with steps of this: {self.title}")
        return self.moving()

    def svg(self) -> str:
        """The picture, as the text of an SVG file.

        Raises
        ------
        ValueError
            If the object has no picture.
        """
        if self.picture is None:
            raise ValueError(f"there is no picture of this: {self.title}")
        return self.picture(standalone=True)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture (".svg"), the words (".txt"), or both as a page (".html").

        Parameters
        ----------
        path : Path or str
            The ending says what is written.

        Raises
        ------
        ValueError
            If the name has another ending, or there is no picture for an ".svg".
        """
        path = Path(path)
        kinds = {".svg": self.svg, ".txt": lambda: f"{self}\n", ".html": self._page}
        if path.suffix.lower() not in kinds:
            raise ValueError(f"path: expected a name in {', '.join(kinds)}, got {str(path)!r}")
        path.write_text(kinds[path.suffix.lower()](), encoding="utf-8")

    def _page(self) -> str:
        return whole_page(self.title, self._repr_html_())

    def _repr_html_(self) -> str:
        parts: list[str] = []
        for section in self.sections:
            if section.title:
                parts.append(
                    f'<div style="font-weight:600;margin-top:8px">{escape(section.title)}</div>'
                )
            parts += [f'<div style="{_LINE}">{escape(line)}</div>' for line in section.lines]
            if section.table is not None:
                parts.append(section.table.html())
            if section.text:
                parts.append(f'<pre style="overflow-x:auto">{escape(section.text)}</pre>')
        if self.picture is not None:
            parts.append(wide(self.picture(standalone=False)))
        return page(self.title, parts)

    def _repr_svg_(self) -> str | None:
        return None if self.picture is None else self.picture(standalone=True)

    def __str__(self) -> str:
        return "\n".join([self.title, *self._lines()])

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        for section in self.sections:
            if section.title:
                yield section.title
            for line in section.lines:
                yield textwrap.fill(
                    line,
                    _WIDTH,
                    initial_indent=_INDENT,
                    subsequent_indent=2 * _INDENT,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            if section.table is not None:
                rows = [section.table.columns, *section.table.rows]
                yield textwrap.indent(aligned(rows, section.table.numbers), _INDENT)
            if section.text:
                yield textwrap.indent(section.text, _INDENT)


IMAGE_AXES = {2: "nc", 3: "ncw", 4: "nchw", 5: "ncdhw"}
FILTER_AXES = {3: "kcs", 4: "kcrs", 5: "kctrs"}


def axes_of(rank: int, letters: dict[int, str]) -> tuple[str, ...]:
    """A letter for each axis, from `letters` by rank; i, j, k and so on for other ranks."""
    return tuple(letters.get(rank, "")) or tuple(chr(ord("i") + axis) for axis in range(rank))


def counted(count: int, noun: str, plural: str = "") -> str:
    """ "1 element", "60 elements"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listed(words: Any, last: str = "and") -> str:
    """ "a, b and c"."""
    words = list(map(str, words))
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def type_name(data_type: Any) -> str:
    """A data type's name in Python; C's name for unknown codes."""
    return data_type_name(data_type) if data_type.known else str(data_type.name)


def name_of(value: Any) -> str:
    """A record's value as text; enumerators by their short names."""
    if isinstance(value, cudnnDataType_t):
        return type_name(value)
    if isinstance(value, CudnnEnum):
        return short_name(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
