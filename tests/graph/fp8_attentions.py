"""Attention on 8-bit numbers: its graphs, and operands with a scale for each tensor."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed

from .attentions import ONE, Array, Attention, errors

# What is multiplied with each tensor before it is stored; each tensor has another.
SCALES = {
    "q": 2.0, "k": 4.0, "v": 8.0, "s": 256.0, "o": 16.0,
    "dO": 3.0, "dP": 64.0, "dQ": 5.0, "dK": 6.0, "dV": 7.0,
}  # fmt: skip
_FORWARD = ("descale_q", "descale_k", "descale_v", "descale_s", "scale_s", "scale_o")
_BACKWARD = (
    *(f"descale_{name}" for name in ("q", "k", "v", "o", "dO", "s", "dP")),
    *(f"scale_{name}" for name in ("s", "dQ", "dK", "dV", "dP")),
)


@dataclass(frozen=True)
class Fp8Attention:
    """Attention with all operands of one type, the gradients of another."""

    attention: Attention
    data_type: str = "fp8_e4m3"
    gradient_type: str = "fp8_e5m2"

    def forward(self, graph: Graph) -> None:
        q, k, v = (self._tensor(graph, name) for name in "qkv")
        wants_stats = not self.attention.inference
        results = graph.sdpa_fp8(
            *(q, k, v, *_scales(graph, _FORWARD)),
            generate_stats=wants_stats,
            **self._options(graph),
            **self.attention.tables(graph),
        )
        for tensor, name in zip(results, ("o", "stats", "amax_s", "amax_o"), strict=True):
            assert tensor is not None or (name == "stats" and not wants_stats)
            if tensor is not None:
                tensor.set_output(name=name)

    def backward(self, graph: Graph) -> None:
        q, k, v, o, d_o = (self._tensor(graph, name) for name in ("q", "k", "v", "o", "dO"))
        dims = (*self.attention.scores[:3], 1)
        stats = graph.tensor(dims, data_type="float32", name="stats")
        results = graph.sdpa_fp8_backward(
            q, k, v, o, d_o, stats, *_scales(graph, _BACKWARD), **self._options(graph)
        )
        names = ("dQ", "dK", "dV", "amax_dQ", "amax_dK", "amax_dV", "amax_dP")
        for tensor, name in zip(results, names, strict=True):
            tensor.set_output(name=name)

    def _tensor(self, graph: Graph, name: str) -> Tensor:
        one = self.attention
        heads = one.key_heads if name in "kv" else one.heads
        length = one.keys if name in "kv" else one.queries
        dims = (one.batch, heads, length, one.size)
        data_type = self.gradient_type if name == "dO" else self.data_type
        if one.page and name in "kv":
            return graph.tensor(one.page_dims(one.size), data_type=data_type, name=name)
        return graph.tensor(dims, packed(dims, (0, 2, 1, 3)), data_type, name=name)

    def _options(self, graph: Graph) -> dict[str, Any]:
        one = self.attention
        more: dict[str, Any] = {
            "diagonal_band_left_bound": one.left,
            "diagonal_band_right_bound": one.right,
            "diagonal_alignment": "bottom_right" if one.bottom_right else "top_left",
        }
        if one.lengths is not None:
            for name in ("seq_len_q", "seq_len_kv"):
                more[name] = graph.tensor((one.batch, 1, 1, 1), data_type="int32", name=name)
        return more

    def operands(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Operands as they are stored, and all exact results, before their scales."""
        a = self.attention.values("float32")
        stored = dict(a)
        for name in ("q", "k", "v", "dO"):
            stored[name] = self._stored(name, a[name])
            a[name] = stored[name] / SCALES[name]
        exact = self.attention.compute(a)
        stored |= {"o": self._stored("o", exact["o"]), "stats": exact["stats"]}
        for name, scale in SCALES.items():
            stored[f"scale_{name}"] = np.full(ONE, scale)
            stored[f"descale_{name}"] = np.full(ONE, 1 / scale)
        exact |= {f"d{name.upper()}": exact[f"d{name}"] for name in "qkv"}
        inside = self.attention.valid("q", a)
        exact["amax_o"] = np.abs(exact["o"] * inside).max(keepdims=True)
        for name in ("dQ", "dK", "dV"):
            exact[f"amax_{name}"] = np.abs(exact[name]).max(keepdims=True)
        return stored, exact

    def _stored(self, name: str, array: Array) -> Array:
        dtype = numpy_dtype(self.gradient_type if name == "dO" else self.data_type)
        return (array * SCALES[name]).astype(dtype).astype(np.float64)

    def errors(self, found: dict[str, Array], exact: dict[str, Array]) -> dict[str, float]:
        """The largest error of each output as `attentions.errors` measures it; scales aside."""
        unscaled = {name: array / SCALES.get(name, 1.0) for name, array in found.items()}
        known = {name: exact[name] for name in found.keys() & exact.keys()}
        return errors(self.attention, unscaled, known, self.attention.values("float32"))


def _scales(graph: Graph, names: tuple[str, ...]) -> list[Tensor]:
    return [graph.tensor(ONE, data_type="float32", name=name) for name in names]


LENGTHS = ((128, 90), (192, 130))
_attention = functools.partial(Attention, size=128, value_size=128)
_paged = functools.partial(Attention, lengths=LENGTHS, page=16, inference=True)
_FIRST_KEY = "window from the bottom right, up to the first key"
_TO_FIRST_KEY = _attention(left=64, right=0, bottom_right=True)
FP8_FORWARD: dict[str, Fp8Attention] = {
    "e4m3": Fp8Attention(_attention()),
    "e5m2": Fp8Attention(_attention(), "fp8_e5m2"),
    "heads of 64": Fp8Attention(Attention()),
    "causal": Fp8Attention(_attention(right=0)),
    "causal from the bottom right": Fp8Attention(_attention(right=0, bottom_right=True)),
    "causal window": Fp8Attention(_attention(right=0, left=32)),
    _FIRST_KEY: Fp8Attention(_TO_FIRST_KEY),
    "one head of keys for two": Fp8Attention(_attention(key_heads=2)),
    "padding": Fp8Attention(_attention(lengths=LENGTHS)),
    "pages": Fp8Attention(_paged()),
    "pages of 64, with statistics": Fp8Attention(_attention(lengths=LENGTHS, page=64)),
    "pages, causal": Fp8Attention(_paged(size=128, value_size=128, right=0)),
    "pages, one head of keys for two, e5m2": Fp8Attention(_paged(page=32, key_heads=2), "fp8_e5m2"),
}
FP8_BACKWARD: dict[str, Fp8Attention] = {
    "e4m3, gradients in e5m2": Fp8Attention(_attention()),
    "e4m3": Fp8Attention(_attention(), gradient_type="fp8_e4m3"),
    "causal": Fp8Attention(_attention(right=0)),
    _FIRST_KEY: Fp8Attention(_TO_FIRST_KEY),
    "padding": Fp8Attention(_attention(lengths=LENGTHS), gradient_type="fp8_e4m3"),
}
