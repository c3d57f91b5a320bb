"""Launches of kernels that were compiled for the host, and calls of missing functions."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

from ...raw import host_blocks
from ..cudart.function import Int, Size, runtime_function
from ..cudart.sides import fail
from ..cudart.types import cudaError_t

LAUNCH = "cudnn_ctypes_launch"
MISSING = "cudnn_ctypes_missing"

_MOST_THREADS = 1024
_MOST_SHARED = 227 << 10  # bytes, of a block on Hopper


@runtime_function
def launched(name: Any, shape: Any, shared: Size, pointers: Any, count: Int) -> None:
    """Check the launch of a kernel, and note its arguments' memory as written.

    - `name`: of the kernel's name.
    - `shape`: of six unsigned ints: the grid's blocks and the block's threads along x, y, z.
    - `shared`: bytes of dynamic shared memory.
    - `pointers`: of an address for each argument, NULL for one that is no pointer.
    - `count`: the number of arguments.
    """
    kernel = ctypes.string_at(name.value).decode()
    sizes = (ctypes.c_uint * 6).from_address(shape.value)
    grid, block = tuple(sizes[:3]), tuple(sizes[3:])
    threads = block[0] * block[1] * block[2]
    if 0 in grid or not 1 <= threads <= _MOST_THREADS or block[2] > 64:
        reason = f"{kernel}: {grid} blocks of {block} threads; a block has 1 to {_MOST_THREADS}"
        fail(kernel, cudaError_t.cudaErrorInvalidConfiguration, reason)
    if shared > _MOST_SHARED:
        reason = f"{kernel}: {shared} bytes of shared memory; a block has at most {_MOST_SHARED}"
        fail(kernel, cudaError_t.cudaErrorInvalidConfiguration, reason)
    for address in (ctypes.c_void_p * max(count, 1)).from_address(pointers.value)[:count]:
        found = host_blocks.find(address) if address else None
        if found is None:
            continue
        if found.freed_at:
            reason = f"{kernel}: an argument was freed: {found}"
            fail(kernel, cudaError_t.cudaErrorIllegalAddress, reason)
        found.mark(0, found.nbytes)  # which of its bytes the kernel writes is not known


CUDA_NAME = re.compile(r"(?:cuda|cudnn|cublas|curand|cufft|cusparse|cusolver|nvrtc|cu)[A-Z]\w*")
"""A function of CUDA or of a library of it."""


def missing_functions(names: Iterable[str]) -> str:
    """Functions in C, under names that a program calls and no library has: each stops it."""
    bodies = (f'void {each}(void) {{ {MISSING}("{each}"); }}\n' for each in sorted(names))
    return f"void {MISSING}(const char *);\n{''.join(bodies)}"


def called_missing(name: Any) -> None:
    """Say which function the program called, and where, and end the process as the loader does."""
    text = ctypes.string_at(name.value).decode()
    place = host_blocks.place_text()
    print(
        f"{place}: {text} is not carried out by the reference device", file=sys.stderr, flush=True
    )
    os._exit(127)
