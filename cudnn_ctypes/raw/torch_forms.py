"""Tensors of PyTorch: which of them have their elements in memory, and which are like earlier ones.

PyTorch compares classes, types, shapes, strides and devices in one call, for its own compiler. To
read as much from Python takes ten times as long. If a version of PyTorch lacks the comparison, or
it fails a test, they are read.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .process import Bounded

Alike = Callable[..., bool]


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of PyTorch, of a subclass too. PyTorch is not imported."""
    return isinstance(value, getattr(sys.modules.get("torch"), "Tensor", ()))


def unreadable(tensor: Any) -> str:
    """Why the elements of a tensor of PyTorch are not what lies at its address; "" if they are.

    "" for objects of other libraries, too.
    """
    if not is_tensor(tensor):
        return ""
    if tensor.is_nested:
        return "expected a dense tensor, got a nested one: pass its parts, or to_padded_tensor()"
    if tensor.layout is not sys.modules["torch"].strided:
        return f"expected a dense tensor, got one of layout {tensor.layout}: pass its to_dense()"
    if tensor.is_neg():  # PyTorch's capsule does not tell
        return "PyTorch negates these elements when it reads them: pass its resolve_neg()"
    if tensor.dtype.is_complex and tensor.is_conj():
        return "PyTorch conjugates these elements when it reads them: pass its resolve_conj()"
    try:
        if tensor.data_ptr() or not tensor.numel():
            return ""
    except RuntimeError:  # in torch.func's transformations
        pass
    kind = f"{type(tensor).__module__}.{type(tensor).__name__}"
    return f"expected device memory, and this {kind} on device '{tensor.device}' has none"


def alike(tensors: Sequence[Any]) -> Alike:
    """A function of the same number of tensors: true if each is like the one of these.

    It keeps none of them, and is false for one object given twice. It may ignore whether they
    require gradients. It must not be given nested tensors: PyTorch 2.13 ends the process.
    """
    return _guard(tensors) if _guards_work() else _read(tensors)


def alike_but_for_shapes(tensors: Sequence[Any]) -> Alike:
    """Like `alike`, for tensors of any sizes and strides: one function for all those of a kind."""
    mode = sys.modules["torch"].is_inference_mode_enabled()
    kinds = mode, *[(type(x), x.ndim, x.is_inference(), *_flags(x)) for x in tensors]
    check = _kinds.get(kinds)
    if check is None or not check(*tensors):
        check = (_guard if _guards_work() else _read)(tensors, shapes=False)
        _kinds.keep(kinds, check)
    return check


_kinds: Bounded[Any, Alike] = Bounded()


def _guard(tensors: Sequence[Any], *, shapes: bool = True) -> Alike:
    any_dims = [[None] * each.ndim for each in tensors]
    check: Alike = (
        sys.modules["torch"]
        ._C._dynamo.guards.TensorGuards(
            *tensors,
            dynamic_dims_sizes=[list(each.shape) for each in tensors] if shapes else any_dims,
            dynamic_dims_strides=[list(each.stride()) for each in tensors] if shapes else any_dims,
        )
        .check
    )
    return check


def _read(tensors: Sequence[Any], *, shapes: bool = True) -> Alike:
    form = _all_of if shapes else _flags
    forms = list(map(form, tensors))

    def check(*tensors: Any) -> bool:
        # Only tensors have a form.
        if [*map(type, tensors)] != kinds or len(set(map(id, tensors))) != len(kinds):
            return False
        return [*map(form, tensors)] == forms

    kinds = [*map(type, tensors)]
    return check


def _all_of(tensor: Any) -> tuple[Any, ...]:
    return tensor.shape, tensor.stride(), *_flags(tensor)


def _flags(tensor: Any) -> tuple[Any, ...]:
    is_conjugated = tensor.dtype.is_complex and tensor.is_conj()
    return tensor.dtype, tensor.device, tensor.layout, tensor.is_neg(), is_conjugated


@functools.cache
def tells_gradients() -> bool:
    """Whether `alike_but_for_shapes` is false for tensors that require gradients, in every mode."""
    torch = sys.modules["torch"]
    plain, other = torch.zeros(1), torch.zeros(1, requires_grad=True)
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            check = alike_but_for_shapes([plain])
            if not check(plain) or check(other):
                return False
    return True


@functools.cache
def _guards_work() -> bool:
    torch = sys.modules["torch"]
    x = torch.zeros(2, 3, device="cpu")
    others = x.t(), x[:1], x.double(), x.new_zeros(2, 6)[:, ::2], x.to("meta"), torch._neg_view(x)
    try:
        check = _guard([x])
        return bool(check(x)) and not any(map(check, (*others, None)))
    except (AttributeError, TypeError, RuntimeError):
        return False
