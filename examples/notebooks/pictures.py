"""Pictures for the notebooks: grids of numbers, windows, and rows of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

COLORS = plt.colormaps["Set2"].colors


def grid(axes: Any, values: np.ndarray, title: str = "", form: str = "g") -> None:
    """Numbers in the cells of a grid, darker where they are larger; NaN stays empty."""
    axes.imshow(np.nan_to_num(values), cmap="Blues", alpha=0.6)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            axes.text(
                column, row, format(value, form), ha="center", va="center", fontsize=9
            )
    axes.set_title(title, fontsize=10)
    axes.set_xticks(np.arange(-0.5, values.shape[1]), [])
    axes.set_yticks(np.arange(-0.5, values.shape[0]), [])
    axes.grid(color="white")
    axes.tick_params(length=0)


def grids(form: str = "g", **named: np.ndarray) -> list[Any]:
    """Several grids side by side, with their names; the axes, to draw windows on."""
    size = (2.4 * len(named), 2.4)
    _, made = plt.subplots(1, len(named), figsize=size, layout="constrained", dpi=80)
    axes = list(np.atleast_1d(made))
    for each, (name, values) in zip(axes, named.items(), strict=True):
        grid(each, np.asarray(values, float), name.replace("_", " "), form)
    plt.close()
    return axes


def window(
    axes: Any, row: float, column: float, height: float = 1, width: float = 1
) -> None:
    """A frame around cells of a grid."""
    corner = column - 0.5, row - 0.5
    style = {"fill": False, "edgecolor": "tab:red", "linewidth": 2.5, "zorder": 5}
    axes.add_patch(Rectangle(corner, width, height, **style))


def strip(owners: Sequence[int], texts: Sequence[str], title: str) -> Any:
    """A row of cells, each in the colour of its owner."""
    figure, axes = plt.subplots(figsize=(9, 0.9), layout="constrained", dpi=80)
    for place, (owner, text) in enumerate(zip(owners, texts, strict=True)):
        color = COLORS[owner % len(COLORS)] if owner >= 0 else "whitesmoke"
        axes.add_patch(Rectangle((place, 0), 1, 1, facecolor=color, edgecolor="white"))
        axes.text(place + 0.5, 0.5, text, ha="center", va="center", fontsize=7)
    axes.set_xlim(0, len(owners))
    axes.set_title(title, fontsize=9, loc="left")
    axes.axis("off")
    plt.close()
    return figure
