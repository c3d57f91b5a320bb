"""A stand-in for the NVIDIA driver's library, so that cuDNN compiles graphs where there is none.

cuDNN's engine libraries are linked against ``libcuda.so.1`` and do not load without it: then not
even a tensor descriptor can be finalized, and cuDNN does not try a second time in that process.
The stub lets them load. It knows no GPU, so nothing can be executed with it. It is compiled by the
system's C compiler into the user's cache directory, found there by the next process, and installed
nowhere. Where the real driver can be loaded it is never made.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from .. import raw
from ..errors import NoDeviceError
from ..raw import process

__all__ = ["Driver", "ensure_driver", "stub_source"]

SONAME = "libcuda.so.1"

# What cuDNN links against (`nm -D --undefined-only libcudnn_engines_runtime_compiled.so.9`) and
# looks up by name: it prints "Could not load symbol …" for each name that it misses.
_REFUSING = [
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxGetLimit",
    "cuCtxPopCurrent",
    "cuCtxPushCurrent",
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
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

# cuDNN loads each kernel that it has compiled before it calls a plan finished.
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
_DRIVER_VERSIONS = {12: 12090, 13: 13000}  # by the CUDA major version that cuDNN is built for


@dataclass(frozen=True)
class Driver:
    """The driver library of this process.

    Attributes
    ----------
    path : Path
        The file; its bare name if the system found it.
    is_stub : bool
        Whether it is the stand-in, with which nothing can be executed.
    """

    path: Path
    is_stub: bool


_lock = threading.Lock()
_driver: Driver | None = None


def ensure_driver() -> Driver:
    """The NVIDIA driver if it can be loaded, else the stub, built on the first use.

    Returns
    -------
    Driver
        Which of them it is.

    Raises
    ------
    NoDeviceError
        Without a driver and without a working C compiler.
    """
    global _driver
    if _driver is None:
        with _lock:
            if _driver is None:
                _driver = _real_driver() or _stub()
    return _driver


def _real_driver() -> Driver | None:
    if not process.driver_present():
        return None
    loaded = [file for file in process.cuda_library_files() if file.name.startswith("libcuda.so")]
    return Driver(loaded[0] if loaded else Path(SONAME), is_stub=False)


def _stub() -> Driver:
    source = stub_source(_DRIVER_VERSIONS.get(raw.load().cuda_major, 13000))
    path = _built(source)
    # By its soname it is what cuDNN's dlopen("libcuda.so.1") finds.
    ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
    return Driver(path, is_stub=True)


@functools.cache
def stub_source(driver_version: int) -> str:
    """The C source of the stub; `driver_version` is CUDA's number, 12090 for 12.9."""
    lines = ["/* Stands in for the NVIDIA driver where there is none. */"]
    lines += [f"int {name}(void) {{ return {_NO_DEVICE}; }}" for name in _REFUSING]
    lines += [f"int {name}(void **made) {{ *made = (void *)16; return 0; }}" for name in _LOADING]
    lines += [f"int {name}(void) {{ return 0; }}" for name in _SILENT]
    lines += [
        f'int {name}(int code, const char **text) {{ *text = "no NVIDIA driver"; return 0; }}'
        for name in _NAMING
    ]
    lines += [f"int cuDriverGetVersion(int *version) {{ *version = {driver_version}; return 0; }}"]
    return "\n".join(lines) + "\n"


def _built(source: str) -> Path:
    import platformdirs  # only a machine without a driver needs it

    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    folder = platformdirs.user_cache_path("cudnn_ctypes")
    path = folder / f"driver-stub-{digest}.so"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_file() and path.stat().st_uid == os.getuid():
            return path
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            # Another process may do the same: each builds its own and renames it.
            _compile(source, Path(scratch)).replace(path)
        return path
    except OSError:
        return _compile(source, Path(tempfile.mkdtemp(prefix="cudnn_ctypes-")))


def _compile(source: str, folder: Path) -> Path:
    c_file, built = folder / "driver_stub.c", folder / "driver_stub.so"
    c_file.write_text(source)
    options = ["-shared", "-fPIC", f"-Wl,-soname,{SONAME}", "-o", str(built), str(c_file)]
    command = [*_compiler(), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoDeviceError(
            f"{_why()}, and compiling one failed: {shlex.join(command)}\n{done.stderr}"
        )
    return built


def _compiler() -> list[str]:
    chosen = shlex.split(os.environ.get("CC", ""))
    for candidate in (chosen, ["cc"], ["gcc"], ["clang"]):
        if candidate and shutil.which(candidate[0]):
            return candidate
    raise NoDeviceError(
        f"{_why()}. It is compiled when needed, but no C compiler was found (looked for $CC, cc, "
        "gcc, clang): install one, or use a machine with an NVIDIA driver"
    )


def _why() -> str:
    return (
        f"{SONAME}, which comes with the NVIDIA driver, cannot be loaded; to build graphs without "
        "it cuDNN needs a small library in its place"
    )
