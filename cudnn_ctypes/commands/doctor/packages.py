"""Findings about installed packages, and about installations that conflict."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from .findings import Finding

__all__ = ["packages", "search_path"]

_SECTION = "packages"
_NAMES = (
    "cudnn-ctypes",
    "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13",
    "nvidia-cudnn-jit-cu12",
    "nvidia-cudnn-jit-cu13",
    "nvidia-cublas-cu12",
    "nvidia-cublas",
    "nvidia-cuda-nvrtc-cu12",
    "nvidia-cuda-nvrtc",
    "cuda-python",
    "cuda-bindings",
    "cuda-core",
    "cuda-pathfinder",
    "numpy",
    "ml_dtypes",
    "torch",
)
_NEEDED = ("cuda-core", "cuda-pathfinder", "numpy", "ml_dtypes")


def packages(loaded_version: str | None, loaded_path: str | None) -> Iterator[Finding]:
    """Findings: versions of packages; packages that own the same files or overwrote another's."""
    versions = {name: version for name in _NAMES if (version := _version(name))}
    for name in _NAMES:
        if name in versions:
            yield Finding(_SECTION, name, versions[name])
        elif name in _NEEDED:
            yield Finding(_SECTION, name, "not installed", "problem", f"pip install {name}")
    both = [name for name in ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13") if name in versions]
    if len(both) == 2:
        yield Finding(
            _SECTION,
            "mixed install",
            " and ".join(f"{name} {versions[name]}" for name in both),
            "problem",
            "both write nvidia/cudnn/lib, and the later one has overwritten the other: uninstall "
            "both, then install the one for your CUDA",
        )
    if len(both) == 1 and _is_wheel(loaded_path) and loaded_version:
        (name,) = both
        if not versions[name].startswith(loaded_version):
            yield Finding(
                _SECTION,
                "mixed install",
                f"{name} {versions[name]}, but its library says {loaded_version}",
                "problem",
                f"another package has overwritten its files: pip install --force-reinstall {name}",
            )
    yield from _torch(versions)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _is_wheel(path: str | None) -> bool:
    return path is not None and "nvidia/cudnn/lib" in path


def _torch(versions: dict[str, str]) -> Iterator[Finding]:
    """A finding about the cuDNN package that PyTorch's metadata requires."""
    if "torch" not in versions:
        return
    for requirement in metadata.requires("torch") or ():
        wanted = re.match(r"(nvidia-cudnn-cu\d+)\s*\(?==\s*([\w.]+)", requirement)
        if not wanted:
            continue
        name, version = wanted.groups()
        if versions.get(name) == version:
            yield Finding(_SECTION, "cuDNN of torch", f"{name} {version}")
        else:
            yield Finding(
                _SECTION,
                "cuDNN of torch",
                f"torch {versions['torch']} wants {name} {version}, installed is "
                f"{versions.get(name, 'none')}",
                "problem",
                f"import torch before the first cuDNN call, so that both use one library, or "
                f"pip install {name}=={version}",
            )


def search_path(loaded_path: str | None) -> Iterator[Finding]:
    """Findings about directories on LD_LIBRARY_PATH with cuDNN libraries."""
    entries = [entry for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if entry]
    holding = [entry for entry in entries if any(Path(entry).glob("libcudnn*.so*"))]
    if len(set(map(os.path.realpath, holding))) > 1:
        yield Finding(
            _SECTION,
            "LD_LIBRARY_PATH",
            ", ".join(holding),
            "problem",
            "several of its directories hold cuDNN: keep one, or sublibraries of one load into "
            "another",
        )
    elif holding:
        value = f"cuDNN in {holding[0]}"
        home = Path(loaded_path).parent if loaded_path else Path(holding[0])
        if os.path.realpath(home) != os.path.realpath(holding[0]):
            value += f", not used: the libraries come from {home}"
        yield Finding(_SECTION, "LD_LIBRARY_PATH", value)
