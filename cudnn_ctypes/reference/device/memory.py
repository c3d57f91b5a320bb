"""Host memory that stands in for device memory: arrays from addresses and descriptors.

A C program passes addresses. On a GPU a wrong one makes a kernel fail; here it would end the
interpreter. So before memory is used its whole range is compared with the known memory: a block of
this package, the caller's object, or the system's list of this process's memory. A wrong range is
refused with EXECUTION_FAILED, cuDNN's status for a failed kernel.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import math
import mmap
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import element_bits, host_scalar_type, numpy_dtype, vector_length
from ...raw import host_blocks, mode, operand_rules
from ...raw.descriptors import Filter, Tensor
from ...raw.host_blocks import Block
from ...raw.library import linux
from ...raw.strides import extent, in_elements, is_dense
from ..arithmetic import scaling_dtype
from ..tiles import Array, same_place
from . import lent
from .registry import Refused, bad_param, execution_failed, not_supported

_MANY, _WORKING_BYTES = 1 << 24, 16  # elements, and NumPy's working memory per element

_WIDEST = 8  # bytes, of a number

Use = Literal["read", "write", "update"]
"""The use of memory in a call; "update" is reading and writing."""


def require(**addresses: int | None) -> None:
    """Refuse NULL: the arguments under their names in C."""
    for name, address in addresses.items():
        if not address:
            raise bad_param(f"{name} is NULL")


def scalar(address: int | None, data_type: raw.cudnnDataType_t, name: str) -> float:
    """The number on the host that scales tensors of `data_type`: alpha or beta.

    It is a double for DOUBLE, and a float for every other type.
    """
    require(**{name: address})
    assert address is not None
    ctype = host_scalar_type(data_type)
    check_range(address, ctypes.sizeof(ctype), name)
    return float(ctype.from_address(address).value)


class Operand(operand_rules.Operand):
    """A tensor argument in memory: its name in C, its descriptor's record, and its address."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of one element."""
        return numpy_dtype(self.described.data_type)

    @property
    def compute_dtype(self) -> np.dtype[Any]:
        """In which its elements are computed with: float64 for DOUBLE, else float32."""
        return scaling_dtype(self.dtype)

    @property
    def accumulation_dtype(self) -> np.dtype[Any]:
        """int32 for integers, which stay exact if only moved; else `compute_dtype`."""
        return np.dtype(np.int32) if self.dtype.kind in "iu" else self.compute_dtype

    def load(self, where: NDArray[np.bool_] | None = None) -> Array:
        """The tensor in its logical shape: for all but the vectorised types a view of its memory.

        `where` says, of its shape or one that broadcasts to it, which elements are read.

        Raises Refused BAD_PARAM for NULL, EXECUTION_FAILED for memory that is not there.
        """
        return self.view("read", where)

    def prior(self, *betas: float) -> Array:
        """The view of an output, whose contents are read only if a beta is not 0."""
        return self.view("update" if any(betas) else "write")

    def view(self, use: Use, where: NDArray[np.bool_] | None = None) -> Array:
        """A view of the logical shape, for any use; `where` as for `at`."""
        stored = self.stored(use, where)
        if vector_length(self.described.data_type) == 1:
            return stored
        return joined_vectors(stored)

    def keep_apart(self, *operands: Operand) -> None:
        """Tell of a result in the place of operands that are read after parts of it were written.

        On a GPU blocks of threads read what others have written by then.
        """
        for each in operands:
            if each.address == self.address:
                tell_in_place(self.name, each.name)

    def check(self) -> None:
        """Refuse memory that is not allocated: cuDNN may read it, the reference does not."""
        with lent.any_contents():
            self.load()

    def store(self, values: Array) -> None:
        """Write `values`, of the logical shape; memory between the elements is not changed.

        Values that were computed in place are not copied.
        """
        values = split_vectors(values, vector_length(self.described.data_type))
        memory = self.stored("write")
        if not same_place(memory, values):
            memory[...] = values

    def stored(self, use: Use = "read", where: NDArray[np.bool_] | None = None) -> Array:
        """A view of the memory: of a vectorised type (N, C / length, spatial..., length)."""
        shape, strides = _in_elements(self.described)
        data_type = self.described.data_type
        return at(self.address, data_type, shape, strides, self.name, use, where=where)


def zeros(described: Tensor | Filter) -> tuple[object, int]:
    """New memory for a tensor: its owner, to be kept as long as it is used, and its address."""
    shape, strides = _in_elements(described)
    dtype = numpy_dtype(described.data_type)
    before, nbytes = _reach(shape, strides, dtype.itemsize)
    owner = np.zeros(nbytes, np.uint8)
    return owner, owner.ctypes.data + before


def at(
    address: int | None,
    data_type: raw.cudnnDataType_t,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    name: str,
    use: Use = "read",
    *,
    where: NDArray[np.bool_] | None = None,
) -> Array:
    """The memory at `address` as an array, writable if `use` allows it.

    - `address`: address of element (0, 0, ...), as an int; None is NULL.
    - `data_type`: a type whose elements are whole bytes; for vectorised types, the type of one
      element.
    - `shape`, `strides`: shape and strides of single elements; strides count elements, and may be
      negative.
    - `name`: the argument's name in C.
    - `use`: the use of the elements.
    - `where`: a mask that broadcasts to this shape, True for the used elements; default: all.

    Raises Refused BAD_PARAM for NULL, EXECUTION_FAILED if part of the range is not allocated, or
    unaligned.
    """
    require(**{name: address})
    assert address is not None
    if element_bits(data_type) < 8:
        raise not_supported(f"{name}: {data_type.name} has no descriptors in cuDNN")
    dtype = numpy_dtype(data_type)
    itemsize = dtype.itemsize
    _check_count(shape, name)
    before, nbytes = _reach(shape, strides, itemsize)
    first = address - before
    block = check_range(first, nbytes, name, use, address)
    if address % min(itemsize, _WIDEST):
        raise execution_failed(
            f"{name} is at {address:#x}, which is no multiple of the {itemsize} bytes of an "
            f"element: a GPU cannot read or write it there"
        )
    steps = tuple(stride * itemsize for stride in strides)
    if block is None:
        memory: Any = (ctypes.c_char * nbytes).from_address(first)
        array: Array = np.ndarray(shape, dtype, memory, offset=before, strides=steps)
        return _checked(array, name, use, where)
    start = first - block.address
    reads = use != "write" and lent.contents_matter()
    if reads and not block.is_written(start, start + nbytes):
        written = _record(block, start + before, shape, steps, itemsize)
        check_written(block, written, start + before, steps, lent.called(name, address), where)
    if use != "read":
        if where is None and is_dense(shape, strides):
            block.mark(start, start + nbytes)
        elif not block.is_written(start, start + nbytes):
            written = _record(block, start + before, shape, steps, itemsize)
            written[... if where is None else where] = np.iinfo(written.dtype).max
    array = np.ndarray(shape, dtype, block.memory, offset=address - block.lower, strides=steps)
    return _checked(array, name, use, where)


def _checked(array: Array, name: str, use: Use, where: NDArray[np.bool_] | None) -> Array:
    array.flags.writeable = use != "read"
    if where is not None or not lent.contents_matter():
        return array
    if other := lent.overlapped(name, array, use != "read"):
        _tell(
            f"{name} and {other} share memory otherwise than element by element: on a GPU the "
            f"result depends on the order in which threads run"
        )
    return array


def _record(
    block: Block, offset: int, shape: tuple[int, ...], steps: tuple[int, ...], itemsize: int
) -> Array:
    """`Block.record` by elements: unsigned integers of an element's size, all ones if written.

    Elements of more than 8 bytes have two of them, along a last dimension.
    """
    if itemsize > 8:
        shape, steps, itemsize = (*shape, itemsize // 8), (*steps, 8), 8
    return np.ndarray(shape, f"u{itemsize}", block.record(), offset=offset, strides=steps)


def check_written(
    block: Block,
    written: Array,
    offset: int,
    steps: Sequence[int],
    name: str,
    where: NDArray[np.bool_] | None = None,
) -> None:
    """Report elements that are read and were never written: a warning, or an error if strict.

    - `written`: the marks of each element, from `_record`.
    - `offset`, `steps`: bytes in the block: the first element's offset, and the steps along each
      dimension.
    """
    missing = written != np.iinfo(written.dtype).max
    if missing.ndim > len(steps):
        missing = missing.any(axis=-1)
    if where is not None:
        missing &= where
    if not missing.any():
        return
    places = sum(
        (index * step for index, step in zip(np.nonzero(missing), steps, strict=True)),
        np.full(np.count_nonzero(missing), offset),
    )
    _tell(
        f"{name}: {len(places)} of {missing.size} elements were never written, the first of them "
        f"at byte {places.min()} of {block}"
    )


def tell_in_place(result: str, operand: str) -> None:
    """Tell of a result in the place of an operand."""
    _tell(
        f"{result} is in the place of {operand}: on a GPU threads read parts of {operand} that "
        f"others have written over"
    )


def _tell(text: str) -> None:
    """Warn of a wrong use of memory with which the reference device can go on; refuse if strict."""
    if mode.strict:
        raise execution_failed(text)
    host_blocks.warn(text)


def _check_count(shape: tuple[int, ...], name: str) -> None:
    """Refuse more elements than can be computed with: strides may put many into few bytes."""
    count = math.prod(shape)
    if count > _MANY and count * _WORKING_BYTES > (free := host_blocks.free_memory()):
        raise Refused(
            raw.CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
            f"{name} has {count} elements; {free} bytes of host memory are free",
        )


def _in_elements(described: Tensor | Filter) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides in single elements: vectors become a last dimension."""
    length = vector_length(described.data_type)
    if length > 1 and (channels := described.shape[1]) % length:
        raise not_supported(
            f"{channels} channels do not fill vectors of {length} ({described.data_type.name})"
        )
    return in_elements(described.shape, described.strides, length)


def _reach(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Bytes before the first element, which negative strides reach, and bytes in all."""
    before = sum((n - 1) * max(-stride, 0) for n, stride in zip(shape, strides, strict=True))
    return before * itemsize, extent(shape, strides) * itemsize


def scribble(address: int | None, nbytes: int, name: str) -> None:
    """Overwrite a workspace, as the GPU does: a program's data there would be lost.

    In a large workspace only the first and the last mebibyte are overwritten, to save time.
    """
    if nbytes:
        require(**{name: address})
        assert address is not None
        check_range(address, nbytes, name, "write")
        part = min(nbytes, 1 << 20)
        ctypes.memset(address, 0xA5, part)
        ctypes.memset(address + nbytes - part, 0xA5, part)


def check_range(
    first: int, nbytes: int, name: str, use: Use = "read", address: int | None = None
) -> Block | None:
    """Refuse memory that is not allocated, or reaches beyond the block or object of its start.

    - `first`, `nbytes`: the used range.
    - `address`: the caller's address; default: `first`.

    Returns the block of the range; None for memory that this package did not allocate.
    """
    address = first if address is None else address
    block = host_blocks.find(address)
    if block is not None:
        start = first - block.address
        if block.freed_at or start < 0 or start + nbytes > block.nbytes:
            name = lent.called(name, address)
            raise _misplaced(start, nbytes, name, use, block.nbytes, str(block), block.freed_at)
        lent.used(block)
        return block
    owner, name = lent.owner(address), lent.called(name, address)
    if owner is not None:
        start = first - owner.address
        if start < 0 or start + nbytes > owner.nbytes:
            raise _misplaced(start, nbytes, name, use, owner.nbytes, str(owner))
        if use == "read":
            return None
        if owner.readonly:
            raise execution_failed(f"{name} is written, but {owner} is read-only")
    if not accessible(first, nbytes, writes=use != "read"):
        raise execution_failed(_no_memory(first, nbytes, name, use))
    block = host_blocks.overlapping(first, first + nbytes)
    if block is not None:
        raise execution_failed(f"{name}: the {nbytes} bytes from {first:#x} on reach into {block}")
    return None


def _misplaced(
    start: int, nbytes: int, name: str, use: Use, size: int, owner: str, freed_at: str = ""
) -> Refused:
    """The refusal of `nbytes` bytes from `start` on, outside of living memory of `size` bytes."""
    used = "read" if use == "read" else "written" if use == "write" else "read and written"
    if freed_at:
        fault = f"{name} was freed"
    elif start >= size:
        fault = f"{name} begins {start - size} bytes beyond the end of its memory"
    elif start < 0:
        fault = f"{name} begins {-start} bytes before the start of its memory"
    else:
        fault = f"{name} is too small: {start + nbytes - size} bytes are missing"
    return execution_failed(f"{fault}: bytes {start} to {start + nbytes} are {used} of {owner}")


def _no_memory(first: int, nbytes: int, name: str, use: Use) -> str:
    place = f"the {nbytes} bytes from {first:#x} on"
    if use != "read" and accessible(first, nbytes):
        return f"{name} is written, but {place} are read-only memory"
    text = (
        f"{name}: {place} are not memory of this process (on the reference device, device memory "
        f"is host memory)"
    )
    for block in reversed(host_blocks.forgotten):
        if block.lower <= first < block.upper:
            return f"{text}; there were {block}"
    return text


# --- memory of the process, as the system says ---------------------------------------------------

# MADV_POPULATE_READ and MADV_POPULATE_WRITE touch pages as a program does, but give an error where
# it would get a signal. Linux has them since 5.14.
_TOUCH_READING, _TOUCH_WRITING = 22, 23


def accessible(address: int, nbytes: int, *, writes: bool = False) -> bool:
    """Whether every byte of a range can be read, and written if it `writes`."""
    end = address + nbytes
    if not 0 < address <= end < 1 << 63:
        return False
    start = address - address % mmap.PAGESIZE
    advice = _TOUCH_WRITING if writes else _TOUCH_READING
    advise = _advise()
    if advise is not None:
        if advise(start, end - start, advice) == 0:
            return True
        if ctypes.get_errno() in (errno.ENOMEM, errno.EFAULT):
            return False
    return _listed(address, end, "rw" if writes else "r")


def _listed(address: int, end: int, permissions: str) -> bool:
    """Whether the list of the process's mappings has the range; True without such a list."""
    mapping = None
    for mapping in linux.mappings():
        if mapping.start <= address < mapping.end:
            if not mapping.permissions.startswith(permissions):
                return False
            if end <= mapping.end:
                return True
            address = mapping.end
    return mapping is None


@functools.cache
def _advise() -> Any:
    """``madvise``; None where it ignores the advice, as in QEMU's emulation of a process."""
    function = ctypes.CDLL(None, use_errno=True).madvise
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return None if function(None, mmap.PAGESIZE, _TOUCH_READING) == 0 else function


# -- vectors of channels ---------------------------------------------------------------------------


def split_vectors(x: Array, length: int, axis: int = 1) -> Array:
    """x, (N, C, spatial...), as (N, C / length, spatial..., length); `axis` is that of C."""
    if length == 1:
        return x
    before, channels, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    return np.moveaxis(x.reshape(*before, channels // length, length, *after), axis + 1, -1)


def joined_vectors(stored: Array, axis: int = 1) -> Array:
    """(N, C, spatial...) of (N, C / length, spatial..., length); `axis` is that of C."""
    split = np.moveaxis(stored, -1, axis + 1)
    return split.reshape(*split.shape[:axis], -1, *split.shape[axis + 2 :])
