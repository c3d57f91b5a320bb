"""New tensors of known forms, all at once, for the results of launches.

Every launch allocates its results, so the steps of `Allocator.allocate_each` and `DeviceTensor` are
written out as source, without calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_void_p

from cudnn_ctypes.raw.compiled_functions import function_of

from .allocation import LARGEST_KEPT, Allocation, Allocator, grains
from .tensor import DeviceTensor, TensorForm

__all__ = ["Makes", "tensor_maker"]

Makes = Callable[[Allocator], tuple[Sequence[DeviceTensor], Sequence[c_void_p]]]
"""From an allocator to tensors and their addresses."""

_ONE = """
    same = kept[grains{0}]
    try:
        block = same.pop()
    except IndexError:
        block = allocator.new_block(grains{0})
    memory = new(Allocation)
    memory.nbytes = nbytes{0}
    memory.pointer = pointer{0} = block.pointer
    memory._allocator = allocator
    memory._block = block
    memory._same = same
    tensor{0} = new(DeviceTensor)
    tensor{0}._memory = memory
    (
        tensor{0}._on_host, tensor{0}._shape, tensor{0}._strides, tensor{0}._data_type,
        tensor{0}._offset, tensor{0}._readonly, tensor{0}._nbytes,
    ) = form{0}
    tensor{0}._keyed = token{0}, pointer{0}
"""
_ALL = """\
def make(allocator):
    kept = allocator.usable()
    if kept is None:
        return one_by_one(allocator)
{body}
    return ({tensors}), ({pointers})
"""


def tensor_maker(forms: Sequence[tuple[int, TensorForm]]) -> Makes:
    """A function that makes tensors of these forms.

    Parameters
    ----------
    forms : sequence of (int, TensorForm)
        The token of each in the keys of launches, and its form.
    """
    sizes = [form[-1] for _, form in forms]

    def one_by_one(allocator: Allocator) -> tuple[Sequence[DeviceTensor], Sequence[c_void_p]]:
        tensors = [
            DeviceTensor._in(memory, form, (token, memory.pointer))
            for memory, (token, form) in zip(allocator.allocate_each(sizes), forms, strict=True)
        ]
        return tensors, [tensor._memory.pointer for tensor in tensors]

    if not all(0 < nbytes <= LARGEST_KEPT for nbytes in sizes):
        return one_by_one
    numbers = range(len(forms))
    source = _ALL.format(
        body="".join(map(_ONE.format, numbers)),
        tensors="".join(f"tensor{i}, " for i in numbers),
        pointers="".join(f"pointer{i}, " for i in numbers),
    )
    scope = {
        "new": object.__new__,
        "Allocation": Allocation,
        "DeviceTensor": DeviceTensor,
        "one_by_one": one_by_one,
    }
    for i, (token, form) in enumerate(forms):
        scope |= {f"token{i}": token, f"form{i}": form}
        scope |= {f"nbytes{i}": sizes[i], f"grains{i}": grains(sizes[i])}
    return function_of(source, "results", scope)
