"""Finding and loading libcudnn, and the libraries that it loads itself.

Order: ``CUDNN_CTYPES_LIBRARY``; the libcudnn that this process already has (PyTorch's, say);
``cuda.pathfinder`` (wheels, conda, system); the small nvidia-cudnn-jit wheels. Never the current
directory.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import LibraryNotFoundError, SymbolNotFoundError
from . import log

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "Library",
    "cuda_library_files",
    "cudnn_files",
    "driver_present",
    "load",
    "loaded_library",
    "mixed_install_advice",
    "version_text",
]

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_LIBRARY"
SONAME = "libcudnn.so.9"

_INSTALL = (
    "Install one: `pip install 'cudnn-ctypes[cu12]'` (or [cu13] for CUDA 13), or set "
    f"{ENVIRONMENT_VARIABLE} to the absolute path of {SONAME}; "
    "`python -m cudnn_ctypes doctor` shows what is there."
)

# Sublibraries have DT_RUNPATH, which LD_LIBRARY_PATH outranks: without loading them here, a cuDNN
# elsewhere on that path would supply some of them. Each header's, dependencies first.
_SUBLIBRARIES = {
    "cudnn_graph.h": ("graph",),
    "cudnn_backend.h": ("graph",),
    "cudnn_ops.h": ("graph", "ops"),
    "cudnn_cnn.h": ("graph", "ops", "cnn"),
    "cudnn_adv.h": ("graph", "ops", "cnn", "adv"),
}

# Functions after which cuDNN may need cuBLAS and NVRTC.
_NEED_CUDA_LIBRARIES = frozenset({"cudnnCreate", "cudnnBackendFinalize"})


@dataclass(slots=True)
class Library:
    """A loaded libcudnn.

    Attributes
    ----------
    path : Path
        The file.
    source : str
        How it was found.
    version : int
        ``cudnnGetVersion()``: 92800 for 9.28.0.
    cuda_major : int
        Major version of the CUDA runtime that it was built for.
    """

    path: Path
    source: str
    cdll: ctypes.CDLL
    version: int
    cuda_major: int
    _prepared: set[str] = field(default_factory=set)

    @property
    def version_text(self) -> str:
        return version_text(self.version)

    def optional_symbol(self, name: str) -> Any | None:
        """The C function `name`, untyped; None if this library does not export it."""
        try:
            return self.cdll[name]  # a new function object at each access
        except AttributeError:
            return None

    def symbol(self, name: str, *, since: str, header: str) -> Any:
        """The C function `name`, untyped, with the libraries that it needs loaded."""
        found = self.optional_symbol(name)
        if found is None:
            raise SymbolNotFoundError(self._missing(name, since))
        self._prepare(header)
        if name in _NEED_CUDA_LIBRARIES:
            self._load_cuda_libraries()
        return found

    def _missing(self, name: str, since: str) -> str:
        loaded = f"loaded is {self.version_text} from {self.path} ({self.source})"
        if _version_number(since) > self.version:
            return f"{name} needs cuDNN {since}; {loaded}. Install a newer cuDNN."
        return (
            f"{name} is in cuDNN's headers since {since}, but this build does not export it; "
            f"{loaded}. Reduced builds (the nvidia-cudnn-jit wheels) hold the graph API only: "
            "install the full nvidia-cudnn wheel."
        )

    def _prepare(self, header: str) -> None:
        for name in _SUBLIBRARIES.get(header, ()):
            if name not in self._prepared:
                self._prepared.add(name)
                file = self.path.with_name(f"libcudnn_{name}.so.9")
                if file.is_file():
                    ctypes.CDLL(str(file))

    def _load_cuda_libraries(self) -> None:
        if "cuda" in self._prepared:
            return
        self._prepared.add("cuda")
        present = {file.name for file in cuda_library_files()}
        for name, soname in (
            ("nvrtc", f"libnvrtc.so.{self.cuda_major}"),
            ("cublasLt", f"libcublasLt.so.{self.cuda_major}"),
            ("cublas", f"libcublas.so.{self.cuda_major}"),
        ):
            if soname in present:
                continue
            beside = self.path.parents[2] / name.removesuffix("Lt") / "lib" / soname
            together = self.path.parents[2] / f"cu{self.cuda_major}" / "lib" / soname
            for file in (beside, together):
                if file.is_file():
                    ctypes.CDLL(str(file))
                    break
            else:
                _load_with_pathfinder(name)


def _load_with_pathfinder(name: str) -> None:
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    # Where it is missing, cuDNN says so itself when it needs it, and the doctor shows the gap.
    with contextlib.suppress(DynamicLibNotFoundError, RuntimeError):
        load_nvidia_dynamic_lib(name)


_lock = threading.Lock()
_loaded: Library | None = None


def loaded_library() -> Library | None:
    """The library that this package has loaded; None before the first call into C."""
    return _loaded


def load() -> Library:
    """The cuDNN library, loaded on the first call.

    Raises
    ------
    LibraryNotFoundError
        If none can be loaded; the message lists the places tried.
    """
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _find()
    return _loaded


def _find() -> Library:
    tried: list[str] = []
    for source, path in _candidates(tried):
        try:
            return _open(path, source)
        except OSError as error:
            tried.append(f"{source}: {path}: {error}")
            if source == ENVIRONMENT_VARIABLE:
                break
    places = "\n".join(f"  - {place}" for place in tried)
    raise LibraryNotFoundError(f"no usable cuDNN 9 library found. Tried:\n{places}\n{_INSTALL}")


def _candidates(tried: list[str]) -> Iterator[tuple[str, Path]]:
    """The places to look in, best first; notes in `tried` those that hold nothing."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen:
        path = Path(chosen)
        if not path.is_absolute():
            raise LibraryNotFoundError(
                f"{ENVIRONMENT_VARIABLE}={chosen!r} must be an absolute path of {SONAME} or of "
                "the directory that holds it"
            )
        yield ENVIRONMENT_VARIABLE, path / SONAME if path.is_dir() else path
        return
    already = [file for file in cudnn_files() if file.name.startswith("libcudnn.so")]
    if already:
        yield "already loaded in this process", already[0]
    else:
        tried.append("already loaded in this process: none")
    yield from _pathfinder_candidate(tried)
    yield from _jit_wheel_candidates(tried)


def _pathfinder_candidate(tried: list[str]) -> Iterator[tuple[str, Path]]:
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    try:
        found = load_nvidia_dynamic_lib("cudnn")
    except (DynamicLibNotFoundError, RuntimeError) as error:
        tried.append(f"cuda.pathfinder (wheels, conda, system): {' '.join(str(error).split())}")
        return
    if found.abs_path is None:
        tried.append("cuda.pathfinder: found a library without a path")
    else:
        yield f"cuda.pathfinder, {found.found_via}", Path(found.abs_path)


def _jit_wheel_candidates(tried: list[str]) -> Iterator[tuple[str, Path]]:
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    files = [Path(root, "cudnn_jit", "lib", SONAME) for root in roots]
    found = [file for file in files if file.is_file()]
    if not found:
        tried.append("nvidia-cudnn-jit wheel (nvidia/cudnn_jit/lib): not installed")
    for file in found:
        yield "nvidia-cudnn-jit wheel", file


def _open(path: Path, source: str) -> Library:
    cdll = ctypes.CDLL(str(path))
    version = _size_t_function(cdll, "cudnnGetVersion", path)
    if version < 90000:
        # cuDNN 8 counted major * 1000 + minor * 100 + patch.
        raise OSError(
            f"this is cuDNN {version // 1000}.{version // 100 % 10}, and cuDNN 9 is needed"
        )
    cuda_major = _size_t_function(cdll, "cudnnGetCudartVersion", path) // 1000
    log.install(cdll["cudnnSetCallback"])
    return Library(path.resolve(), source, cdll, version, cuda_major)


def _size_t_function(cdll: ctypes.CDLL, name: str, path: Path) -> int:
    try:
        symbol = cdll[name]
    except AttributeError:
        raise OSError(f"{path} exports no {name}: it is not a cuDNN library") from None
    symbol.restype = ctypes.c_size_t
    symbol.argtypes = []
    return int(symbol())


# --- what is in this process -------------------------------------------------------------------


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


def version_text(version: int) -> str:
    """92800 as "9.28.0"."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


def _version_number(text: str) -> int:
    major, minor, patch = (int(part) for part in text.split("."))
    return major * 10000 + minor * 100 + patch
