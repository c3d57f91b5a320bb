"""A stand-in for the NVIDIA driver's library, with which cuDNN compiles graphs without a driver.

cuDNN's engine libraries are linked against ``libcuda.so.1`` and do not load without it. Then not
even a tensor descriptor can be finalized, and cuDNN does not try again in that process.
The stub lets them load. It knows no GPU, so nothing can be executed with it. It is written here,
byte by byte, and loaded from memory: it needs no compiler and no file. It is not created if the
real driver can be loaded.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from dataclasses import dataclass

from .. import raw
from ..errors import NoDeviceError
from ..process import new_lock
from ..raw import elf, process
from .machine_code import MACHINE_CODE

__all__ = ["Driver", "ensure_driver", "stub", "use_stub"]

SONAME = "libcuda.so.1"

# Symbols that cuDNN links against (`nm -D --undefined-only libcudnn_engines_runtime_compiled.so.9`)
# or looks up by name: it prints "Could not load symbol …" for each missing name.
_REFUSING = [
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxGetLimit",
    "cuCtxPopCurrent",
    "cuCtxPushCurrent",
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuInit",
    "cuKernelGetAttribute",
    "cuLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLibraryLoadFromFile",
    "cuLinkAddData",
    "cuLinkComplete",
    "cuLinkCreate",
    "cuLinkDestroy",
    "cuOccupancyMaxPotentialClusterSize",
    "cuStreamGetCtx",
    "cuTensorMapEncodeIm2col",
    "cuTensorMapEncodeTiled",
]

# cuDNN loads each compiled kernel before it finishes a plan.
_LOADING = [
    "cuKernelGetFunction",
    "cuLibraryGetKernel",
    "cuLibraryLoadData",
    "cuModuleGetFunction",
    "cuModuleLoadData",
]
_SILENT = ["cuKernelSetAttribute", "cuLibraryUnload", "cuModuleUnload"]
_NAMING = ["cuGetErrorName", "cuGetErrorString"]

_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
_TEXT = b"no NVIDIA driver\0"
_DRIVER_VERSIONS = {12: 12090, 13: 13000}  # by the CUDA major version of the cuDNN build


@dataclass(frozen=True)
class Driver:
    """The driver library of this process.

    Attributes
    ----------
    is_stub : bool
        True for the stand-in, with which nothing can be executed.
    """

    is_stub: bool


_lock = new_lock()
_driver: Driver | None = None


def ensure_driver() -> Driver:
    """The NVIDIA driver if it can be loaded, else the stub, created on first use.

    Returns
    -------
    Driver
        The driver, or the stub.

    Raises
    ------
    NoDeviceError
        If there is no driver, and no stub for this machine.
    """
    global _driver
    if _driver is None:
        with _lock:
            if _driver is None:
                _driver = Driver(is_stub=False) if process.driver_present() else _load_stub()
    return _driver


def use_stub() -> None:
    """Have the stub in this process, also where there is a driver, before anything loads that.

    Raises
    ------
    NoDeviceError
        If there is no stub for this machine.
    """
    global _driver
    _driver = _load_stub()


def _load_stub() -> Driver:
    content = stub(_DRIVER_VERSIONS.get(raw.load().cuda_major, 13000))
    # cuDNN's dlopen("libcuda.so.1") finds it by its soname.
    elf.load_from_memory(content, SONAME, ctypes.RTLD_GLOBAL)
    return Driver(is_stub=True)


def stub(driver_version: int) -> bytes:
    """The bytes of the stub's file; `driver_version` is CUDA's number, 12090 for 12.9.

    Raises
    ------
    NoDeviceError
        If the machine is neither x86-64 nor aarch64.
    """
    machine = elf.MACHINES.get(elf.built_for(), "")
    code = MACHINE_CODE.get(machine)
    if code is None:
        raise NoDeviceError(
            f"{SONAME}, which comes with the NVIDIA driver, cannot be loaded, and to build graphs "
            f"without it cuDNN needs a small library in its place: there is one for "
            f"{' and '.join(MACHINE_CODE)}"
        )
    looking_up = ["cuGetProcAddress", "cuGetProcAddress_v2"]
    # Engines of norms ask for the number of GPUs before they load their kernel. They compile if the
    # answer is 0, but not if it is an error.
    numbers = ["cuDeviceGetCount", "cuDriverGetVersion"]
    names = [*_REFUSING, *_LOADING, *_SILENT, *_NAMING, *numbers, *looking_up]
    # First the data of the functions: a text, the names, and a table with the offsets of each name
    # and its function from the table's start.
    text = bytearray(_TEXT)
    name_at = {}
    for name in names:
        name_at[name] = len(text)
        text += name.encode() + b"\0"
    table_at = -(-len(text) // 16) * 16
    table_size = 8 * (len(names) + 1)  # closed by zeros
    text += bytes(table_at + table_size - len(text))
    begins: dict[str, int] = {}

    def add(name: str, body: Callable[[int], bytes]) -> None:
        text.extend(bytes(-len(text) % 16))
        begins[name] = len(text)
        text.extend(body(len(text)))

    for name in _REFUSING:
        add(name, lambda _: code.constant(_NO_DEVICE))
    for name in _LOADING:
        add(name, lambda _: code.store_pointer())
    for name in _SILENT:
        add(name, lambda _: code.constant(0))
    for name in _NAMING:
        add(name, lambda at: code.store_address(-at))
    add("cuDeviceGetCount", lambda _: code.store_number(0))
    add("cuDriverGetVersion", lambda _: code.store_number(driver_version))
    add(looking_up[0], lambda at: code.look_up(table_at - at))
    add(looking_up[1], lambda at: code.look_up_with_status(table_at - at))
    entries = ((name_at[name] - table_at, begins[name] - table_at) for name in names)
    struct.pack_into(f"<{2 * len(names)}i", text, table_at, *(n for pair in entries for n in pair))
    return elf.shared_object(SONAME, text=bytes(text), functions=begins)
