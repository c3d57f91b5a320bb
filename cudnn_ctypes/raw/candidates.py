"""The places where libcudnn is looked for, best first; never the current directory."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import LibraryNotFoundError
from . import process

__all__ = ["ENVIRONMENT_VARIABLE", "SONAME", "candidates"]

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_LIBRARY"
SONAME = "libcudnn.so.9"

_ROOTS = ("CUDNN_PATH", "CUDA_PATH", "CUDA_HOME")


def candidates(tried: list[str]) -> Iterator[tuple[str, Path]]:
    """Yield the place and the file of each candidate; add the places without one to `tried`."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen:
        yield ENVIRONMENT_VARIABLE, _chosen(chosen)
        return
    places = (
        ("already loaded in this process", "none", _in_this_process()),
        ("nvidia-cudnn wheel (nvidia/cudnn/lib)", "not installed", _wheels("cudnn")),
        ("CONDA_PREFIX", "none", _below("CONDA_PREFIX")),
        ("the dynamic loader", "finds none", _system()),
        (
            "CUDNN_PATH, CUDA_PATH, CUDA_HOME",
            "none",
            _below("CUDNN_PATH", "CUDA_PATH", "CUDA_HOME"),
        ),
        ("nvidia-cudnn-jit wheel (nvidia/cudnn_jit/lib)", "not installed", _wheels("cudnn_jit")),
    )
    for source, nothing, files in places:
        seen = False
        for file in files:
            seen = True
            yield source, file
        if not seen:
            tried.append(f"{source}: {nothing}")


def _chosen(text: str) -> Path:
    path = Path(text)
    if not path.is_absolute():
        raise LibraryNotFoundError(
            f"{ENVIRONMENT_VARIABLE}={text!r} must be an absolute path of {SONAME} or of the "
            "directory that holds it"
        )
    return path / SONAME if path.is_dir() else path


def _in_this_process() -> Iterator[Path]:
    files = [file for file in process.cudnn_files() if ".so.9" in file.name]
    yield from [file for file in files if file.name.startswith("libcudnn.so")][:1]


def _wheels(package: str) -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        yield from _existing(Path(root, package, "lib", SONAME))


def _below(*variables: str) -> Iterator[Path]:
    for variable in variables:
        root = os.environ.get(variable)
        if root and os.path.isabs(root):
            for folder in ("lib64", "lib"):
                yield from _existing(Path(root, folder, SONAME))


def _system() -> Iterator[Path]:
    for file in process.loader_files():
        if file.name == SONAME and file.is_absolute():
            yield from _existing(file)


def _existing(file: Path) -> list[Path]:
    return [file] if os.path.lexists(file) else []
