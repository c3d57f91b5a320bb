"""The benchmarked operations in PyTorch, if it is installed and has a GPU."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["TorchCall", "torch_with_gpu"]

_DATA_TYPES = {"bfloat16", "float16", "float32", "float64"}


def torch_with_gpu() -> Any:
    """PyTorch; None if it is not installed or sees no GPU."""
    if importlib.util.find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")
    return torch if torch.cuda.is_available() else None


@dataclass
class TorchCall:
    """An operation of PyTorch on random operands.

    Attributes
    ----------
    operation : str
    dims : dict of str to tuple of int
        The operands' dims.
    options : dict of str
        Options by PyTorch's names.
    data_type : str
    channels_last : bool
        True for images with their channels last in memory.
    """

    operation: str
    dims: dict[str, tuple[int, ...]]
    options: dict[str, Any]
    data_type: str
    channels_last: bool = False

    def bound(self, torch: Any, device: str = "cuda") -> Callable[[], Any] | None:
        """A function that executes it on new operands; None if PyTorch lacks the data type."""
        if self.data_type not in _DATA_TYPES:
            return None
        dtype = getattr(torch, self.data_type)
        operands = {
            name: torch.randn(dims, device=device, dtype=dtype) for name, dims in self.dims.items()
        }
        if self.channels_last:
            form = torch.channels_last
            operands = {name: each.to(memory_format=form) for name, each in operands.items()}
        return _CALLS[self.operation](torch, operands, self.options)


def _forward(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    convolve = torch.nn.functional.conv2d if t["x"].dim() == 4 else torch.nn.functional.conv3d
    groups = t["x"].shape[1] // t["w"].shape[1]
    return lambda: convolve(t["x"], t["w"], groups=groups, **options)


def _backward(wanted: list[bool]) -> Callable[[Any, dict[str, Any], dict[str, Any]], Any]:
    def bound(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
        spatial = t["x"].dim() - 2
        windows = [[options[name]] * spatial for name in ("stride", "padding", "dilation")]
        groups = t["x"].shape[1] // t["w"].shape[1]
        backward = torch.ops.aten.convolution_backward
        end = (False, [0] * spatial, groups, wanted)
        return lambda: backward(t["y"], t["x"], t["w"], None, *windows, *end)

    return bound


def _matmul(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    return lambda: torch.matmul(t["a"], t["b"])


def _attention(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    attend = torch.nn.functional.scaled_dot_product_attention
    shared = {"enable_gqa": True} if t["q"].shape[1] != t["k"].shape[1] else {}
    return lambda: attend(t["q"], t["k"], t["v"], **options, **shared)


def _layer_norm(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    norm, columns = torch.nn.functional.layer_norm, t["scale"].shape
    return lambda: norm(t["x"], columns, t["scale"], t["bias"], 1e-5)


def _rms_norm(torch: Any, t: dict[str, Any], options: dict[str, Any]) -> Callable[[], Any]:
    norm, columns = torch.nn.functional.rms_norm, t["scale"].shape
    return lambda: norm(t["x"], columns, t["scale"], 1e-5)


_CALLS: dict[str, Callable[[Any, dict[str, Any], dict[str, Any]], Callable[[], Any]]] = {
    "convolution forward": _forward,
    "convolution data": _backward([True, False, False]),
    "convolution filter": _backward([False, True, False]),
    "matmul": _matmul,
    "attention": _attention,
    "layer norm": _layer_norm,
    "rms norm": _rms_norm,
}
