"""The libraries of cuDNN and CUDA in this process, and those that its loader would find."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from . import linux

ONE_CUDNN = (
    "remove the other from LD_LIBRARY_PATH, unset CUDNN_CTYPES_LIBRARY or set it to the one that a "
    "framework has loaded, or import the framework that brings its own cuDNN first"
)
"""Advice for two cuDNN libraries in one process."""

STAND_INS = "cudnn_ctypes_stand_ins"
"""The folder of the libraries that compiled programs load in place of NVIDIA's: no cuDNN."""

_SONAME = re.compile(r"libcudnn(?:_\w+)?\.so\.9(?=\.|$)")
_CACHED = re.compile(rb"/[^\0]*/libcudnn[^/\0]*\.so[^/\0]*")


def _mapped_files(prefixes: tuple[str, ...]) -> list[Path]:
    """The shared objects of such names in this process, in the order of their first mapping."""
    files = dict.fromkeys(map(Path, linux.shared_objects()))
    return [file for file in files if file.name.startswith(prefixes)]


def cudnn_files() -> list[Path]:
    """The cuDNN main library and sublibraries in this process, loaded by any package."""
    return _mapped_files(("libcudnn",))


def cuda_library_files() -> list[Path]:
    """The cuBLAS, NVRTC and CUDA runtime and driver libraries in this process."""
    return _mapped_files(("libcublas", "libnvrtc.", "libcudart.", "libcuda."))


def mixture(main: Path) -> tuple[Path, Path] | None:
    """A library of another cuDNN 9 in this process, and its counterpart that belongs to `main`.

    Other major versions have other names and do no harm.
    """
    for mapped in cudnn_files():
        name = _SONAME.match(mapped.name)
        if name:
            is_main = name[0] == "libcudnn.so.9"
            own = main if is_main else main.with_name(name[0])
            if identity(own) != identity(mapped):
                return mapped, own
    return None


def identity(file: Path) -> object:
    """A key that is equal for two paths of one file, through symbolic and hard links."""
    try:
        status = file.stat()
    except OSError:
        return str(file)
    return status.st_dev, status.st_ino


# --- files that the dynamic loader finds ------------------------------------------------------


def library_path() -> list[str]:
    """The entries of ``LD_LIBRARY_PATH`` at the process's start: the loader ignores changes."""
    value = linux.environment().get("LD_LIBRARY_PATH")
    return re.split("[:;]", value) if value else []


def loader_files() -> Iterator[Path]:
    """All cuDNN libraries in the loader's folders, in its search order."""
    for entry in library_path():
        if not entry.endswith(STAND_INS):
            yield from _libraries_in(Path(entry))
    # The interpreter's own DT_RPATH: conda's leads here.
    yield from _libraries_in(Path(sys.base_prefix, "lib"))
    try:
        cache = Path("/etc/ld.so.cache").read_bytes()
    except OSError:
        cache = b""
    if b"libcudnn" in cache:
        yield from (Path(os.fsdecode(path)) for path in _CACHED.findall(cache))
    multiarch = f"{os.uname().machine}-linux-gnu"
    for folder in (
        f"/lib/{multiarch}",
        f"/usr/lib/{multiarch}",
        "/lib64",
        "/usr/lib64",
        "/usr/lib",
    ):
        if os.path.exists(f"{folder}/libcudnn_graph.so.9"):  # listing a large folder takes long
            yield from _libraries_in(Path(folder))


def _libraries_in(folder: Path) -> list[Path]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [folder / name for name in sorted(names) if name.startswith("libcudnn")]


def driver_present() -> bool:
    """Whether the library of the NVIDIA driver, libcuda, can be loaded."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def mixed_install_advice() -> str:
    """Advice for sublibraries that do not belong to the main library."""
    directories = {path.parent for path in cudnn_files()}
    if len(directories) > 1:
        listed = ", ".join(sorted(map(str, directories)))
        return (
            f"cuDNN libraries from {len(directories)} places are loaded together ({listed}): "
            f"keep one: {ONE_CUDNN}"
        )
    where = f" in {next(iter(directories))}" if directories else ""
    return (
        f"the libcudnn files{where} belong to different cuDNN versions, or one is missing: "
        "uninstall every nvidia-cudnn package (pip list | grep cudnn) and install one again"
    )
