"""Operations that move elements, where an engine takes them; see `cases`."""

from __future__ import annotations

from .cases import TOLERANCES, case

case(
    "matmul of a slice",
    lambda g: g.matmul(
        g.slice(g.tensor((4, 64, 256), name="a"), [slice(None), slice(None), slice(0, 128)]),
        g.tensor((4, 128, 64), name="b"),
    ).set_output(name="c"),
    lambda a: {"c": a["a"][:, :, :128] @ a["b"]},
    tolerance=TOLERANCES["float16"],
)
