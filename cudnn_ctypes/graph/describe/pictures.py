"""The methods by which a graph shows itself; drawing is done elsewhere, when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from ...arguments import file_path

if TYPE_CHECKING:
    from ...evidence.pictures.diagram import Diagram, Region
    from .node import Node


class PictureMethods:
    """Pictures of operations and tensors; a notebook shows one by itself.

    Boxes are operations and tensors with memory; an operation's last line is the tensor that only
    exists between operations. What was built has the engine that carries out all operations
    together, and its knobs.
    """

    def _region(self) -> Region | None:
        """The plan that carries out all operations together, once there is one."""
        return None

    def _diagram(self) -> Diagram:
        from ...evidence.pictures.diagram import diagram

        nodes: Sequence[Node] = self.nodes  # type: ignore[attr-defined]
        return diagram(getattr(self, "name", "operations"), nodes, self._region())

    def to_svg(self, path: str | PathLike[str] | None = None) -> str:
        """The picture as SVG, laid out here; written to a file too, if one is given.

        Returns
        -------
        str
            The ``<svg>`` element, with dark text on a white background.

        Examples
        --------
        >>> graph.to_svg("graph.svg")  # doctest: +SKIP
        """
        from ...evidence.pictures.svg import svg

        text = svg(self._diagram())
        if path is not None:
            file_path("path", path).write_text(text, encoding="utf-8")
        return text

    def _repr_html_(self) -> str:
        from ...evidence.pictures.html import wide
        from ...evidence.pictures.svg import svg

        return wide(svg(self._diagram(), standalone=False))
