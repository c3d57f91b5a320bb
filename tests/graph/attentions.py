"""Functions that modify the scores of attention, with their derivatives and what they compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed

CAP = 1.5  # scores are normally distributed with deviation 1
Arrays = Mapping[str, NDArray[Any]]


class Modifier:
    """One function; ``backward`` is None where its derivative needs no operation.

    Parameters
    ----------
    dims : tuple of int
        Of the scores, (b, h, s_q, s_kv).
    """

    backward: Callable[[Graph, Tensor], Tensor] | None = None

    def __init__(self, dims: tuple[int, ...]) -> None:
        self.dims = dims

    def __call__(self, graph: Graph, scores: Tensor) -> Tensor:
        raise NotImplementedError

    @staticmethod
    def exact(scores: Any, a: Arrays) -> Any:
        """What PyTorch makes of the scores."""
        raise NotImplementedError


class SoftCap(Modifier):
    """cap * tanh(scores / cap)."""

    def __call__(self, graph: Graph, scores: Tensor) -> Tensor:
        self.small = graph.div(scores, CAP)
        return graph.mul(graph.tanh(self.small), CAP)

    def backward(self, graph: Graph, gradient: Tensor) -> Tensor:  # type: ignore[override]
        return graph.tanh_backward(gradient, self.small)

    @staticmethod
    def exact(scores: Any, a: Arrays) -> Any:
        return CAP * (scores / CAP).tanh()


class Causal(Modifier):
    """The mask of gen_index and a comparison."""

    def __call__(self, graph: Graph, scores: Tensor) -> Tensor:
        row, column = graph.gen_index(scores, 2), graph.gen_index(scores, 3)
        return graph.binary_select(scores, -math.inf, graph.cmp_ge(row, column))

    @staticmethod
    def exact(scores: Any, a: Arrays) -> Any:
        import torch

        queries, keys = scores.shape[2:]
        later = np.arange(keys)[None, :] > np.arange(queries)[:, None]
        return scores.masked_fill(torch.tensor(later), -np.inf)


class Relative(Modifier):
    """A bias of the user's own, (1, h, s_q, s_kv), and a factor."""

    def __call__(self, graph: Graph, scores: Tensor) -> Tensor:
        bias = graph.tensor((1, *self.dims[1:]), name="r")
        return graph.mul(graph.add(scores, bias), 0.5)

    def backward(self, graph: Graph, gradient: Tensor) -> Tensor:  # type: ignore[override]
        return graph.mul(gradient, 0.5)

    @staticmethod
    def exact(scores: Any, a: Arrays) -> Any:
        import torch

        return (scores + torch.tensor(a["r"])) * 0.5


MODIFIERS: dict[str, type[Modifier]] = {"cap": SoftCap, "causal": Causal, "relative": Relative}


# --- attention with any options: graphs, operands, and what PyTorch gives ------------------------


Array = NDArray[Any]
SEED, OFFSET = 1234, 56
ONE = (1, 1, 1, 1)


@dataclass(frozen=True)
class Attention:
    """One attention; see ``Graph.sdpa`` for the options.

    Attributes
    ----------
    tokens_first : bool
        Whether memory is (b, s, h, d), else (b, h, s, d).
    bias : tuple of int, optional
        Its dims.
    lengths : (lengths of queries, lengths of keys), optional
    cumulative : bool
        Whether lengths are told as sums.
    ragged : bool
        Whether sequences lie packed one after the other.
    dropout : "", "seed" or "mask"
    scale : float, "tensor" or None
    page : int
        Tokens of a page, 0 without.
    slopes : tuple of float
        Of alibi, for each head.
    modifier : str
        Key of `MODIFIERS`, what modifies the scores before bias and masks; "" for none.
    """

    batch: int = 2
    heads: int = 4
    key_heads: int = 4
    queries: int = 128
    keys: int = 192
    size: int = 64
    value_size: int = 64
    tokens_first: bool = True
    left: int | None = None
    right: int | None = None
    bottom_right: bool = False
    bias: tuple[int, ...] | None = None
    bias_gradient: bool = False
    slopes: tuple[float, ...] = ()
    lengths: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    cumulative: bool = False
    ragged: bool = False
    dropout: str = ""
    sink: bool = False
    scale: float | str | None = None
    page: int = 0
    modifier: str = ""
    deterministic: bool = False
    inference: bool = False

    @property
    def scores(self) -> tuple[int, ...]:
        return (self.batch, self.heads, self.queries, self.keys)

    @property
    def factor(self) -> float:
        if self.scale == "tensor":
            return 0.2
        return 1 / math.sqrt(self.size) if self.scale is None else float(self.scale)

    # --- graphs ----------------------------------------------------------------------------------

    def forward(self, graph: Graph, *, unified: bool = False) -> None:
        q, k, v = self.operands(graph)
        more = {**self.options(graph), **self.tables(graph)}
        if self.dropout == "seed":
            more["rng_dump"] = graph.tensor(self.scores, data_type="float32", name="kept")
        sdpa: Any = graph.sdpa_unified if unified else graph.sdpa
        o, stats = sdpa(q, k, v, generate_stats=not self.inference, **more)
        o.set_output(name="o")
        self.pack_tensor(graph, "o", o)
        if stats is not None:
            stats.set_output(name="stats")
            self.pack_stats(graph, stats)

    def backward(self, graph: Graph) -> None:
        q, k, v = self.operands(graph)
        o, d_o = (self.like_o(graph, each) for each in OUT)
        d_o.ragged_offset = o.ragged_offset
        stats = graph.tensor((*self.scores[:3], 1), data_type="float32", name="stats")
        self.pack_stats(graph, stats)
        more = self.options(graph, backward=True)
        gradients = graph.sdpa_backward(q, k, v, o, d_o, stats, **more)
        for gradient, like in zip(gradients, (q, k, v), strict=True):
            gradient.set_output(name=f"d{like.name}")
            gradient.ragged_offset = like.ragged_offset

    def operands(self, graph: Graph) -> list[Tensor]:
        q = self._heads(graph, "q", self.heads, self.queries, self.size)
        if not self.page:
            return [
                q,
                self._heads(graph, "k", self.key_heads, self.keys, self.size),
                self._heads(graph, "v", self.key_heads, self.keys, self.value_size),
            ]
        sizes = (self.size, self.value_size)
        return [
            q,
            *(
                graph.tensor(self.page_dims(size), name=each)
                for each, size in zip("kv", sizes, strict=True)
            ),
        ]

    def page_dims(self, size: int) -> tuple[int, ...]:
        """Of all pages of k or v, some of which hold nothing."""
        return (2 * self.batch * self.keys // self.page, self.key_heads, self.page, size)

    def tables(self, graph: Graph) -> dict[str, Tensor]:
        """Where the pages of each sequence are, if there are some."""
        dims = (self.batch, 1, self.keys // self.page, 1) if self.page else ()
        return {
            f"paged_attention_{each}_table": graph.tensor(
                dims, data_type="int32", name=f"{each}_table"
            )
            for each in ("kv" if self.page else "")
        }

    def like_o(self, graph: Graph, name: str) -> Tensor:
        return self._heads(graph, name, self.heads, self.queries, self.value_size)

    def options(self, graph: Graph, *, backward: bool = False) -> dict[str, Any]:
        more: dict[str, Any] = {
            "diagonal_band_left_bound": self.left,
            "diagonal_band_right_bound": self.right,
            "diagonal_alignment": "bottom_right" if self.bottom_right else "top_left",
            "use_alibi_mask": bool(self.slopes),
        }
        if self.scale == "tensor":
            more["attn_scale"] = graph.tensor(ONE, data_type="float32", name="scale")
        elif self.scale is not None:
            more["attn_scale"] = self.scale
        if self.bias is not None:
            more["bias"] = graph.tensor(self.bias, name="bias")
        if self.lengths is not None:
            before = "cu_" if self.cumulative else ""
            dims = (self.batch + self.cumulative, 1, 1, 1)
            for each in (f"{before}seq_len_q", f"{before}seq_len_kv"):
                more[each] = graph.tensor(dims, data_type="int32", name=each)
        if self.dropout == "seed":
            ends = [graph.tensor(ONE, data_type="int64", name=each) for each in ("seed", "offset")]
            more["dropout"] = (0.25, *ends)
        elif self.dropout == "mask":
            mask = graph.tensor(self.scores, name="kept")
            scale = graph.tensor(ONE, data_type="float32", name="drop_scale")
            more["dropout"] = (mask, scale)
        if self.sink:
            more["sink_token"] = graph.tensor(
                (1, self.heads, 1, 1), data_type="float32", name="sink"
            )
        if self.modifier:
            modify = MODIFIERS[self.modifier](self.scores)
            more["score_mod"] = modify
            if backward:
                more["score_mod_bprop"] = modify.backward
        if backward:
            more["use_deterministic_algorithm"] = self.deterministic
            if self.bias_gradient:
                assert self.bias is not None
                more["dBias"] = graph.tensor(self.bias, name="dbias")
            if self.sink:
                more["dSink_token"] = graph.tensor(
                    (1, self.heads, 1, 1), data_type="float32", name="dsink"
                )
        return more

    def _heads(self, graph: Graph, name: str, heads: int, length: int, size: int) -> Tensor:
        dims = (self.batch, heads, length, size)
        strides = packed(dims, (0, 2, 1, 3) if self.tokens_first else None)
        tensor = graph.tensor(dims, strides, name=name)
        if name != "dO":
            self.pack_tensor(graph, name, tensor)
        return tensor

    def pack_tensor(self, graph: Graph, name: str, tensor: Tensor) -> None:
        if self.ragged:
            tensor.ragged_offset = graph.tensor(
                (self.batch + 1, 1, 1, 1), data_type="int32", name=f"{name}_offset"
            )

    def pack_stats(self, graph: Graph, stats: Tensor) -> None:
        if self.ragged:
            dims = (*self.scores[:3], 1)
            stats.dims, stats.strides = dims, packed(dims, (0, 2, 1, 3))
            self.pack_tensor(graph, "stats", stats)

    # --- values ----------------------------------------------------------------------------------

    def values(self, data_type: str) -> dict[str, Array]:
        """All operands, and what results from them, in float64; operands as they are stored."""
        rng = np.random.default_rng(self.keys)
        b, h, s_q, s_kv = self.scores
        shapes = {
            "q": (b, h, s_q, self.size),
            "k": (b, self.key_heads, s_kv, self.size),
            "v": (b, self.key_heads, s_kv, self.value_size),
            "dO": (b, h, s_q, self.value_size),
        }
        a = {name: self.rounded(rng.standard_normal(s), data_type) for name, s in shapes.items()}
        if self.bias is not None:
            a["bias"] = self.rounded(rng.standard_normal(self.bias), data_type)
        if self.modifier == "relative":
            a["r"] = self.rounded(rng.standard_normal((1, *self.scores[1:])), data_type)
        if self.sink:
            a["sink"] = rng.standard_normal((1, h, 1, 1)).astype(np.float32).astype(np.float64)
        a["scale"] = np.full(ONE, np.float32(self.factor))
        if self.dropout == "mask":
            a["kept"] = (rng.random(self.scores) < 0.75).astype(np.float64)
        a["drop_scale"] = np.full(ONE, 1 / 0.75)
        a["seed"], a["offset"] = np.full(ONE, SEED), np.full(ONE, OFFSET)
        lengths = self.lengths or ((s_q,) * b, (s_kv,) * b)
        for name, each in zip(("seq_len_q", "seq_len_kv"), lengths, strict=True):
            a[name] = np.array(each).reshape(b, 1, 1, 1)
            a[f"cu_{name}"] = np.cumsum([0, *each]).reshape(b + 1, 1, 1, 1)
        return a

    @staticmethod
    def rounded(array: Array, data_type: str) -> Array:
        return array.astype(numpy_dtype(data_type)).astype(np.float64)

    def valid(self, name: str, a: Mapping[str, Array]) -> Array:
        """Which tokens are no padding, (b, 1, s, 1)."""
        length = a["seq_len_kv" if name in ("k", "v", "dk", "dv") else "seq_len_q"]
        tokens = self.keys if name in ("k", "v", "dk", "dv") else self.queries
        return np.arange(tokens).reshape(1, 1, -1, 1) < length

    def allowed(self, a: Mapping[str, Array]) -> Array:
        row, column = np.arange(self.queries)[:, None], np.arange(self.keys)[None, :]
        if self.bottom_right:
            row = row + (a["seq_len_kv"] - a["seq_len_q"])
        allowed = np.broadcast_to(column < a["seq_len_kv"], (self.batch, 1, *self.scores[2:]))
        if self.left is not None:
            allowed = allowed & (column > row - self.left)
        if self.right is not None:
            allowed = allowed & (column <= row + self.right)
        # Padding has no result; a sum over nothing would make NaN of the gradients, too.
        return allowed | ~self.valid("q", a)

    def compute(self, a: dict[str, Array]) -> dict[str, Array]:
        """o, stats, all gradients, and the largest of scores, softmax and gradient of scores."""
        import torch

        given: dict[str, Any] = {
            name: torch.tensor(a[name], requires_grad=True)
            for name in ("q", "k", "v", "bias", "sink")
            if name in a
        }
        group = self.heads // self.key_heads
        k, v = (given[each].repeat_interleave(group, 1) for each in "kv")
        products = given["q"] @ k.transpose(2, 3)
        products.retain_grad()
        scores = products * self.factor
        if self.modifier:
            scores = MODIFIERS[self.modifier].exact(scores, a)
        if self.bias is not None:
            scores = scores + given["bias"]
        if self.slopes:
            distance = np.arange(self.keys)[None, :] - np.arange(self.queries)[:, None]
            slopes = np.array(self.slopes).reshape(1, -1, 1, 1)
            scores = scores + torch.tensor(slopes * distance)
        allowed = torch.tensor(np.broadcast_to(self.allowed(a), tuple(scores.shape)).copy())
        # A query without a key gets and gives nothing: there every score counts, and none is used.
        empty = ~allowed.any(3, keepdim=True) & (not self.sink)
        scores = scores.masked_fill(~allowed & ~empty, -np.inf)
        if self.sink:
            sink = given["sink"].expand(*self.scores[:3], 1)
            scores = torch.cat([scores, sink], 3)
        stats = scores.logsumexp(3, keepdim=True)
        p = (scores - stats).exp()[..., : self.keys] * ~empty
        stats = stats.masked_fill(empty, -np.inf)
        largest = (p.detach().numpy() * self.valid("q", a)).max(keepdims=True)
        if self.dropout:
            p = p * torch.tensor(a["kept"]) / 0.75
        o = p @ v
        inside = torch.tensor(self.valid("q", a))
        loss: Any = (o * torch.tensor(a["dO"]) * inside).sum()
        loss.backward()
        found = {}
        if self.sink:
            terms = (given["sink"] - stats).exp() * (o * torch.tensor(a["dO"])).sum(3, True)
            squares = (terms * inside).detach().numpy() ** 2
            found["dsink_terms"] = np.sqrt(squares.sum((0, 2, 3), keepdims=True))
        return {
            **found,
            "o": o.detach().numpy(),
            "stats": stats.detach().numpy(),
            "max": scores.detach().amax(3, keepdim=True).numpy(),
            "amax_s": largest,
            "amax_dP": np.abs(products.grad.numpy()).max(keepdims=True),
            **{f"d{name}": each.grad.numpy() for name, each in given.items()},
        }

    # --- memory ----------------------------------------------------------------------------------

    def pack(self, array: Array, lengths: Array) -> Array:
        """(b, h, s, d) to the tokens of all sequences, one after the other."""
        return np.concatenate(
            [
                sequence[:, :length].transpose(1, 0, 2).ravel()
                for sequence, length in zip(array, lengths.ravel(), strict=True)
            ]
        )

    def unpack(self, flat: Array, dims: tuple[int, ...], lengths: Array) -> Array:
        _, h, _, d = dims
        found, start = np.zeros(dims), 0
        for sequence, length in zip(found, lengths.ravel(), strict=True):
            part = flat[start : start + length * h * d].reshape(length, h, d)
            sequence[:, :length] = part.transpose(1, 0, 2)
            start += length * h * d
        return found

    def offsets(self, tensor: Tensor, lengths: Array) -> Array:
        assert tensor.dims is not None
        per_token = tensor.dims[1] * tensor.dims[3]
        starts = np.concatenate([[0], np.cumsum(lengths.ravel())]) * per_token
        return starts.reshape(-1, 1, 1, 1)

    def pages(self, a: Mapping[str, Array], name: str) -> tuple[Array, Array]:
        """The pages of k or v, in a random order among others, and the table of them."""
        rng = np.random.default_rng(11)
        count = self.keys // self.page
        order = rng.permutation(2 * self.batch * count)[: self.batch * count]
        array = a[name].reshape(self.batch, self.key_heads, count, self.page, -1)
        pages = np.full((2 * self.batch * count, self.key_heads, self.page, array.shape[-1]), 9.0)
        pages[order] = array.transpose(0, 2, 1, 3, 4).reshape(-1, *pages.shape[1:])
        return pages, order.reshape(self.batch, 1, count, 1)


OUT = ("o", "dO")


def execute(
    attention: Attention, graph: Graph, a: Mapping[str, Array], handle: Handle
) -> dict[str, Array]:
    """The outputs of a built graph as float64; all memory is poisoned before."""
    ragged = {each.ragged_offset: each for each in graph.tensors if each.ragged_offset is not None}
    held: dict[Any, Any] = {}
    with ExitStack() as stack:
        for tensor in graph.inputs:
            array = _operand(attention, tensor, a, ragged)
            assert tensor.dims is not None
            held[tensor] = _stored(array, tensor, stack)
        for tensor in graph.outputs:
            held[tensor] = _stored(_poison(attention, tensor, a), tensor, stack)
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            workspace.fill(255)  # not a number
            graph.execute(held, workspace)
            handle.synchronize()
        found = {}
        for tensor in graph.outputs:
            array = held[tensor].numpy().astype(np.float64)
            if tensor.ragged_offset is not None:
                assert tensor.dims is not None
                array = attention.unpack(array, tensor.dims, _lengths(tensor.name, a))
            found[tensor.name] = array
    return found


def _lengths(name: str, a: Mapping[str, Array]) -> Array:
    return a["seq_len_kv" if name in ("k", "v", "dk", "dv") else "seq_len_q"]


def _operand(
    attention: Attention, tensor: Tensor, a: Mapping[str, Array], ragged: Mapping[Any, Tensor]
) -> Array:
    if tensor in ragged:
        return attention.offsets(ragged[tensor], _lengths(ragged[tensor].name, a))
    if tensor.ragged_offset is not None:
        return attention.pack(a[tensor.name], _lengths(tensor.name, a))
    if attention.page and tensor.name in ("k", "v"):
        return attention.pages(a, tensor.name)[0]
    if attention.page and tensor.name.endswith("_table"):
        return attention.pages(a, tensor.name[0])[1]
    return a[tensor.name]


def _poison(attention: Attention, tensor: Tensor, a: Mapping[str, Array]) -> Array:
    assert tensor.dims is not None
    array = np.full(tensor.dims, 77.0)
    if tensor.ragged_offset is not None:
        return attention.pack(array, _lengths(tensor.name, a))
    return array


def _stored(array: Array, tensor: Tensor, stack: ExitStack) -> DeviceTensor:
    array = array.astype(numpy_dtype(tensor.data_type))
    strides = tensor.strides if array.shape == tensor.dims else None
    memory = DeviceTensor.from_numpy(array, strides=strides)
    stack.callback(memory.close)
    return memory


def errors(
    attention: Attention, found: Mapping[str, Array], exact: Mapping[str, Array], a: Any
) -> dict[str, float]:
    """The largest error of each output, relative to its largest magnitude; padding aside.

    The gradients of queries and keys are exactly 0 where each query has one key: they are held
    against the largest of all gradients then, since rounding leaves something of them. The gradient
    of a sink is a sum that may nearly cancel out: it is held against what its terms would add up to
    if they were independent.
    """
    result = {}
    gradients = [name for name in exact if name.lower() in ("dq", "dk", "dv")]
    largest = max((np.abs(exact[name]).max() for name in gradients), default=1)
    for name in found.keys() & exact.keys():
        valid: Any = True
        if name in ("o", "stats", *gradients):
            valid = np.broadcast_to(attention.valid(name.lower(), a), exact[name].shape)
        valid = valid & np.isfinite(exact[name])  # of the statistics of a query without a key
        difference = np.abs(np.where(valid, found[name], 0) - np.where(valid, exact[name], 0))
        magnitude = np.abs(np.where(valid, exact[name], 0)).max() or largest
        if name == "dsink":
            magnitude = max(magnitude, exact["dsink_terms"].max())
        result[name] = float(difference.max() / magnitude)
    return result
