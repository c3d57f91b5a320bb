"""The words in which blocks of models are said, for a graph and for PyTorch.

A block says its part of a model once. `InGraph` describes it; `InTorch` computes it by PyTorch's
own functions, which know nothing of cuDNN and are what results are compared with.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F

from cudnn_ctypes import Graph
from cudnn_ctypes.raw.strides import packed

Shape = Sequence[int]


class Parts(ABC):
    """Operations on tensors, which are those of a graph or of PyTorch.

    Tensors know ``+ - * /``. Parameters are named by their kind and number: "w1", "bias1", "gain1".
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def _named(self, kind: str) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{kind}{self._counts[kind]}"

    @abstractmethod
    def input(self, *dims: int, name: str = "x", data_type: Any = None, image: bool = False) -> Any:
        """An operand; images are stored channels last."""

    def image(self, *dims: int, name: str = "x") -> Any:
        return self.input(*dims, name=name, image=True)

    def weight(self, *dims: int, kind: str = "w", data_type: Any = None) -> Any:
        image = kind == "w" and len(dims) == 4
        return self.input(*dims, name=self._named(kind), data_type=data_type, image=image)

    def channels(self, c: int, kind: str, data_type: Any = "float32") -> Any:
        return self.input(1, c, 1, 1, name=self._named(kind), data_type=data_type, image=True)

    @abstractmethod
    def apply(self, function: str, x: Any) -> Any:
        """An element-wise function by its name in PyTorch."""

    @abstractmethod
    def reduce(self, how: str, x: Any, axes: Shape) -> Any:
        """ "add", "avg" or "max" along axes, which stay with size 1."""

    @abstractmethod
    def softmax(self, x: Any) -> Any:
        """Along the last axis."""

    @abstractmethod
    def matmul(self, a: Any, b: Any, *, turned: bool = False) -> Any:
        """A product; with `turned` of the transposed second."""

    @abstractmethod
    def reshape(self, x: Any, dims: Shape) -> Any: ...

    @abstractmethod
    def transpose(self, x: Any, axes: Shape) -> Any: ...

    @abstractmethod
    def cat(self, parts: Sequence[Any], axis: int) -> Any: ...

    @abstractmethod
    def part(self, x: Any, axis: int, start: int, stop: int, step: int = 1) -> Any:
        """A slice along one axis."""

    @abstractmethod
    def where(self, a: Any, b: Any, chosen: Any) -> Any:
        """`a` where it is chosen, else `b`."""

    @abstractmethod
    def is_label(self, x: Any, label: Any) -> Any:
        """Whether an element of a row stands at the place that a label names."""

    @abstractmethod
    def layer_norm(self, x: Any, m: int, *, affine: bool = True, data_type: Any = None) -> Any:
        """Of rows of `m` elements."""

    @abstractmethod
    def rms_norm(self, x: Any, m: int) -> Any: ...

    @abstractmethod
    def batch_norm(self, x: Any, c: int, function: str) -> dict[str, Any]:
        """In training; with its statistics."""

    @abstractmethod
    def group_norm(self, x: Any, groups: int, dims: Shape) -> Any:
        """Of images of these dims, with a gain and bias of each channel."""

    @abstractmethod
    def attend(self, q: Any, k: Any, v: Any, *, causal: bool = False, **options: Any) -> Any:
        """Scaled dot-product attention of (batch, heads, rows, size); fewer heads of k and v.

        `scale`, `bias`: as PyTorch has them.
        """

    @abstractmethod
    def rope(self, x: Any, angles: Any) -> Any:
        """Turn the two halves of (batch, rows, heads, size) into each other."""

    @abstractmethod
    def conv(
        self,
        x: Any,
        c: int,
        k: int,
        size: int | tuple[int, int] = 3,
        *,
        stride: int = 1,
        groups: int = 1,
        dilation: int = 1,
        padding: int | tuple[int, int] | None = None,
    ) -> Any:
        """From `c` to `k` channels; padded to keep the size if not told otherwise."""

    @abstractmethod
    def conv_transposed(self, x: Any, size: int, c: int, dims: Shape) -> Any:
        """Of stride 2, from `c` channels to a result of these dims."""

    @abstractmethod
    def pool(
        self, x: Any, how: str, size: int, *, stride: int | None = None, padding: int = 0
    ) -> Any:
        """ "max" or "avg"."""

    @abstractmethod
    def upsample(self, x: Any) -> Any:
        """Each pixel four times."""

    @abstractmethod
    def experts(self, x: Any, count: int, k: int, n: int) -> Any:
        """Rows that are sorted by expert, each times its expert's weight.

        The operand "begins" is where the rows of each expert begin.
        """

    # What is put together of these.

    def linear(self, x: Any, k: int, n: int, *, bias: bool = False) -> Any:
        y = self.matmul(x, self.weight(1, k, n))
        return y + self.weight(1, 1, n, kind="bias") if bias else y

    def chunk(self, x: Any, axis: int, size: int, count: int) -> list[Any]:
        return [self.part(x, axis, i * size, i * size + size) for i in range(count)]

    def heads(self, x: Any, b: int, s: int, h: int, d: int) -> Any:
        return self.transpose(self.reshape(x, (b, s, h, d)), (0, 2, 1, 3))

    def joined(self, o: Any, b: int, s: int, m: int) -> Any:
        return self.reshape(self.transpose(o, (0, 2, 1, 3)), (b, s, m))

    def attention(
        self,
        x: Any,
        b: int,
        s: int,
        h: int,
        d: int,
        *,
        few: int | None = None,
        bias: bool = False,
        angles: Any = None,
        norms: bool = False,
        memory: Any = None,
        length: int | None = None,
        **options: Any,
    ) -> Any:
        """Projections, attention and the projection of its result.

        - `few`: heads of keys and values. `bias`: of the projections of q, k and v.
        - `angles`: of a rotary embedding. `norms`: of q and k.
        - `memory`, `length`: what keys and values are of, if it is not `x`, and its rows.
        """
        m, few, other = h * d, few or h, x if memory is None else memory
        t = length or s
        q = self.reshape(self.linear(x, m, m, bias=bias), (b, s, h, d))
        k = self.reshape(self.linear(other, m, few * d, bias=bias), (b, t, few, d))
        v = self.reshape(self.linear(other, m, few * d, bias=bias), (b, t, few, d))
        if norms:
            q, k = self.rms_norm(q, d, 4), self.rms_norm(k, d, 4)
        if angles is not None:
            q, k = self.rope(q, angles), self.rope(k, angles)
        o = self.attend(*(self.transpose(each, (0, 2, 1, 3)) for each in (q, k, v)), **options)
        return self.linear(self.joined(o, b, s, m), m, m)

    def one_projection(
        self, x: Any, b: int, s: int, h: int, d: int, *, bias: bool = True, **options: Any
    ) -> Any:
        """Attention of slices of one product."""
        m = h * d
        parts = self.chunk(self.linear(x, m, 3 * m, bias=bias), 2, m, 3)
        o = self.attend(*(self.heads(each, b, s, h, d) for each in parts), **options)
        return self.linear(self.joined(o, b, s, m), m, m, bias=bias)

    def mlp(self, x: Any, m: int, n: int, function: str = "gelu", *, bias: bool = True) -> Any:
        y = self.apply(function, self.linear(x, m, n, bias=bias))
        return self.linear(y, n, m, bias=bias)

    def gated_mlp(self, x: Any, m: int, n: int, function: str = "silu") -> Any:
        gate = self.apply(function, self.linear(x, m, n))
        return self.linear(gate * self.linear(x, m, n), n, m)

    def conv_norm(
        self, x: Any, c: int, k: int, size: Any = 3, function: str = "", **at: Any
    ) -> Any:
        """A convolution, the scale and bias of a folded batch norm, and a function."""
        y = self.conv(x, c, k, size, **at)
        y = y * self.channels(k, "gain") + self.channels(k, "bias")
        return self.apply(function, y) if function else y

    def excited(self, x: Any, n: int, c: int, few: int) -> Any:
        """Each channel of an image times a gate of its means."""
        y = self.reshape(self.reduce("avg", x, (2, 3)), (1, n, c))
        y = self.apply("sigmoid", self.linear(self.apply("relu", self.linear(y, c, few)), few, c))
        return x * self.reshape(y, (n, c, 1, 1))

    def rows(self, x: Any, n: int, pixels: int, c: int) -> Any:
        """An image as one row for each pixel."""
        return self.reshape(self.transpose(x, (0, 2, 3, 1)), (n, pixels, c))

    def unrows(self, x: Any, n: int, size: int, c: int) -> Any:
        return self.transpose(self.reshape(x, (n, size, size, c)), (0, 3, 1, 2))


_FUNCTIONS = {"gelu_tanh": "gelu_approx_tanh", "silu": "swish"}
"""Names of a graph's methods that are others than PyTorch's."""


class InGraph(Parts):
    """Blocks as operations of a graph."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._g = graph
        self._begins: Any = None

    def input(self, *dims: int, name: str = "x", data_type: Any = None, image: bool = False) -> Any:
        layout = {"layout": "nhwc"} if image else {}
        return self._g.tensor(dims, data_type=data_type, name=name, **layout)

    def apply(self, function: str, x: Any) -> Any:
        g = self._g
        if function == "relu6":
            return g.relu(x, upper_clip=6.0)
        if function == "leaky_relu":
            return g.relu(x, negative_slope=0.01)
        if function == "hardswish":
            return x * g.relu(x + 3.0, upper_clip=6.0) * (1 / 6)
        if function == "mish":
            return x * g.tanh(g.softplus(x))
        if function == "square":
            return x * x
        return getattr(g, _FUNCTIONS.get(function, function))(x)

    def reduce(self, how: str, x: Any, axes: Shape) -> Any:
        return self._g.reduction(x, how, axes=axes)

    def softmax(self, x: Any) -> Any:
        return self._g.softmax(x)["y"]

    def matmul(self, a: Any, b: Any, *, turned: bool = False) -> Any:
        return self._g.matmul(a, b, transpose_B=turned)

    def reshape(self, x: Any, dims: Shape) -> Any:
        return self._g.reshape(x, dims, reshape_mode="logical")

    def transpose(self, x: Any, axes: Shape) -> Any:
        return self._g.transpose(x, axes)

    def cat(self, parts: Sequence[Any], axis: int) -> Any:
        for each in parts:
            each.data_type = self._g.io_data_type  # which all need to have
        return self._g.concatenate(list(parts), axis=axis)

    def part(self, x: Any, axis: int, start: int, stop: int, step: int = 1) -> Any:
        return self._g.slice(x, (*[slice(None)] * axis, slice(start, stop, step), ...))

    def where(self, a: Any, b: Any, chosen: Any) -> Any:
        return self._g.binary_select(a, b, chosen)

    def is_label(self, x: Any, label: Any) -> Any:
        return self._g.cmp_eq(self._g.gen_index(x, axis=1), label)

    def layer_norm(self, x: Any, m: int, *, affine: bool = True, data_type: Any = None) -> Any:
        both = [None, None]
        if affine:
            both = [self.weight(1, 1, m, kind=k, data_type=data_type) for k in ("gain", "bias")]
        options = {} if affine else {"axes": (-1,)}
        return self._g.layernorm("inference", x, *both, 1e-5, **options)[0]

    def rms_norm(self, x: Any, m: int, rank: int = 3) -> Any:
        gain = self.weight(*[1] * (rank - 1), m, kind="gain")
        return self._g.rmsnorm("inference", x, gain, None, 1e-5)[0]

    def batch_norm(self, x: Any, c: int, function: str) -> dict[str, Any]:
        gain, bias = (self.channels(c, kind) for kind in ("gain", "bias"))
        y, mean, inverse, *_ = self._g.batchnorm(x, gain, bias, epsilon=1e-5)
        return {"y": self.apply(function, y), "mean": mean, "inverse": inverse}

    def group_norm(self, x: Any, groups: int, dims: Shape) -> Any:
        n, c, *size = dims
        parts = self.reshape(x, (n, groups, c // groups, *size))
        centered = parts - self.reduce("avg", parts, (2, 3, 4))
        variance = self.reduce("avg", centered * centered, (2, 3, 4))
        y = self.reshape(centered * self._g.rsqrt(variance + 1e-5), dims)
        y.strides = packed(dims, (0, 2, 3, 1))  # as images lie
        return y * self.channels(c, "gain", None) + self.channels(c, "bias", None)

    def attend(self, q: Any, k: Any, v: Any, *, causal: bool = False, **options: Any) -> Any:
        if "scale" in options:
            options["attn_scale"] = options.pop("scale")
        return self._g.sdpa(q, k, v, use_causal_mask=causal, **options)[0]

    def rope(self, x: Any, angles: Any) -> Any:
        return self._g.rope(x, angles)

    def conv(
        self,
        x: Any,
        c: int,
        k: int,
        size: int | tuple[int, int] = 3,
        *,
        stride: int = 1,
        groups: int = 1,
        dilation: int = 1,
        padding: int | tuple[int, int] | None = None,
    ) -> Any:
        w = self.weight(k, c // groups, *_pair(size))
        padding = _same(size, dilation) if padding is None else padding
        return self._g.conv_fprop(x, w, padding=padding, stride=stride, dilation=dilation)

    def conv_transposed(self, x: Any, size: int, c: int, dims: Shape) -> Any:
        w = self.weight(c, dims[1], size, size)
        y = self._g.conv_dgrad(x, w, padding=(size - 2) // 2, stride=2)
        y.dims = tuple(dims)
        return y

    def pool(
        self, x: Any, how: str, size: int, *, stride: int | None = None, padding: int = 0
    ) -> Any:
        mode = {"max": "maxpool", "avg": "avgpool"}[how]
        y, _ = self._g.resample(x, mode, window=size, stride=stride or size, padding=padding)
        return y

    def upsample(self, x: Any) -> Any:
        half = Fraction(1, 2)
        return self._g.resample(x, "nearest", window=1, stride=half, post_padding=half)[0]

    def experts(self, x: Any, count: int, k: int, n: int) -> Any:
        if self._begins is None:
            self._begins = self.input(count, 1, 1, name="begins", data_type="int32")
        w = self.weight(count, k, n)
        w.strides = packed(w.dims, (0, 2, 1))  # by columns, as cuDNN 9.19 wants them
        return self._g.moe_grouped_matmul(x, w, self._begins)


class InTorch(Parts):
    """Blocks as PyTorch computes them from operands by name."""

    def __init__(self, operands: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self._operands = operands

    def input(self, *dims: int, name: str = "x", data_type: Any = None, image: bool = False) -> Any:
        return self._operands[name]

    def apply(self, function: str, x: Any) -> Any:
        if function == "gelu_tanh":
            return F.gelu(x, approximate="tanh")
        known = getattr(torch, function, None) or getattr(F, function)
        return known(x)

    def reduce(self, how: str, x: Any, axes: Shape) -> Any:
        return {"add": torch.sum, "avg": torch.mean, "max": torch.amax}[how](x, axes, keepdim=True)

    def softmax(self, x: Any) -> Any:
        return torch.softmax(x, -1)

    def matmul(self, a: Any, b: Any, *, turned: bool = False) -> Any:
        return a @ (b.mT if turned else b)

    def reshape(self, x: Any, dims: Shape) -> Any:
        return x.reshape(*dims)

    def transpose(self, x: Any, axes: Shape) -> Any:
        return x.permute(*axes)

    def cat(self, parts: Sequence[Any], axis: int) -> Any:
        return torch.cat(list(parts), axis)

    def part(self, x: Any, axis: int, start: int, stop: int, step: int = 1) -> Any:
        return x[(*[slice(None)] * axis, slice(start, stop, step))]

    def where(self, a: Any, b: Any, chosen: Any) -> Any:
        return torch.where(chosen, a, b)

    def is_label(self, x: Any, label: Any) -> Any:
        return F.one_hot(label[:, 0].long(), x.shape[1]).bool()

    def layer_norm(self, x: Any, m: int, *, affine: bool = True, data_type: Any = None) -> Any:
        both = [self.weight(m, kind=k).flatten() for k in ("gain", "bias")] if affine else ()
        return F.layer_norm(x, (m,), *(each.to(x.dtype) for each in both), eps=1e-5)

    def rms_norm(self, x: Any, m: int, rank: int = 3) -> Any:
        return F.rms_norm(x, (m,), self.weight(m, kind="gain").flatten(), eps=1e-5)

    def batch_norm(self, x: Any, c: int, function: str) -> dict[str, Any]:
        gain, bias = (self.channels(c, kind).flatten() for kind in ("gain", "bias"))
        y = F.batch_norm(x, None, None, gain, bias, True, eps=1e-5)
        mean, variance = x.mean((0, 2, 3), True), x.var((0, 2, 3), False, keepdim=True)
        return {
            "y": self.apply(function, y),
            "mean": mean,
            "inverse": torch.rsqrt(variance + 1e-5),
        }

    def group_norm(self, x: Any, groups: int, dims: Shape) -> Any:
        gain, bias = (self.channels(dims[1], kind).flatten() for kind in ("gain", "bias"))
        return F.group_norm(x, groups, gain, bias)

    def attend(self, q: Any, k: Any, v: Any, *, causal: bool = False, **options: Any) -> Any:
        if "bias" in options:
            options["attn_mask"] = options.pop("bias")
        few = q.shape[1] != k.shape[1]
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=few, **options)

    def rope(self, x: Any, angles: Any) -> Any:
        first, second = x.chunk(2, -1)
        turned = torch.cat([-second, first], -1)
        return (x * torch.cos(angles) + turned * torch.sin(angles)).to(x.dtype)

    def conv(
        self,
        x: Any,
        c: int,
        k: int,
        size: int | tuple[int, int] = 3,
        *,
        stride: int = 1,
        groups: int = 1,
        dilation: int = 1,
        padding: int | tuple[int, int] | None = None,
    ) -> Any:
        padding = _same(size, dilation) if padding is None else padding
        return F.conv2d(x, self.weight(k), None, stride, padding, dilation, groups)

    def conv_transposed(self, x: Any, size: int, c: int, dims: Shape) -> Any:
        return F.conv_transpose2d(x, self.weight(c), stride=2, padding=(size - 2) // 2)

    def pool(
        self, x: Any, how: str, size: int, *, stride: int | None = None, padding: int = 0
    ) -> Any:
        return {"max": F.max_pool2d, "avg": F.avg_pool2d}[how](x, size, stride or size, padding)

    def upsample(self, x: Any) -> Any:
        return F.interpolate(x, scale_factor=2)

    def experts(self, x: Any, count: int, k: int, n: int) -> Any:
        w = self.weight(count)
        begins = [*self.input(count, name="begins").flatten().tolist(), x.shape[1]]
        ends = [int(each) for each in begins]
        parts = [x[:, a:b] @ w[i] for i, (a, b) in enumerate(pairwise(ends))]
        return torch.cat(parts, 1)


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else size


def _same(size: int | tuple[int, int], dilation: int) -> tuple[int, int]:
    """The padding that keeps the size of an image."""
    a, b = _pair(size)
    return a // 2 * dilation, b // 2 * dilation


def fan_in(name: str, dims: Shape) -> float:
    """Of how many products an element of a result is the sum, for a weight of this name."""
    if not name.startswith("w"):
        return 1.0
    return math.prod(dims[1:]) if len(dims) == 4 else dims[-2]
