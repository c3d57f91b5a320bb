"""Which libraries of cuDNN and CUDA this process has, and what a mixture of them calls for."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

__all__ = [
    "cuda_library_files",
    "cudnn_files",
    "driver_present",
    "elsewhere_on_library_path",
    "mixed_install_advice",
]


def _mapped_files() -> list[Path]:
    """The shared objects mapped into this process, in the order of their first mapping."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []
    paths = (line.split(maxsplit=5)[5] for line in lines if line.count("/") and ".so" in line)
    return [Path(path) for path in dict.fromkeys(paths)]


def cudnn_files() -> list[Path]:
    """The cuDNN libraries in this process, main and sublibraries, whoever loaded them."""
    return [path for path in _mapped_files() if path.name.startswith("libcudnn")]


def elsewhere_on_library_path(directory: Path) -> list[Path]:
    """Other directories on ``LD_LIBRARY_PATH`` that hold libraries of cuDNN."""
    places = [Path(p) for p in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if p]
    others = [p for p in places if p.resolve() != directory.resolve()]
    return [p for p in dict.fromkeys(others) if next(p.glob("libcudnn*.so*"), None)]


def cuda_library_files() -> list[Path]:
    """The cuBLAS, NVRTC and CUDA runtime and driver libraries in this process."""
    prefixes = ("libcublas", "libnvrtc.", "libcudart.", "libcuda.")
    return [path for path in _mapped_files() if path.name.startswith(prefixes)]


def driver_present() -> bool:
    """Whether the library of the NVIDIA driver, libcuda, can be loaded."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def mixed_install_advice() -> str:
    """What to do about sublibraries that do not belong to the main library."""
    directories = {path.parent for path in cudnn_files()}
    if len(directories) > 1:
        listed = ", ".join(sorted(map(str, directories)))
        return (
            f"cuDNN libraries from {len(directories)} places are loaded together ({listed}): "
            "keep one, remove the others from LD_LIBRARY_PATH, and import the framework that "
            "brings its own cuDNN first"
        )
    where = f" in {next(iter(directories))}" if directories else ""
    return (
        f"the libcudnn files{where} belong to different cuDNN versions, or one is missing: "
        "uninstall every nvidia-cudnn package (pip list | grep cudnn) and install one again"
    )
