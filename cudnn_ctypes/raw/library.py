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
from .process import cuda_library_files, cudnn_files, elsewhere_on_library_path

__all__ = ["ENVIRONMENT_VARIABLE", "Library", "load", "loaded_library", "version_text"]

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_LIBRARY"
SONAME = "libcudnn.so.9"

_INSTALL = (
    "Install one: `pip install 'cudnn-ctypes[cu12]'` (or [cu13] for CUDA 13), or set "
    f"{ENVIRONMENT_VARIABLE} to the absolute path of {SONAME}; "
    "`python -m cudnn_ctypes doctor` shows what is there."
)

# Sublibraries have DT_RUNPATH, which LD_LIBRARY_PATH outranks: without loading them here, a cuDNN
# elsewhere on that path would supply some of them. Each header's, dependencies first. cuDNN opens
# the others (engines, heuristics) by name when it needs them, some of them large.
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
    _lock: threading.Lock = field(default_factory=threading.Lock)

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
        with self._lock:  # nobody calls C before its libraries are there
            self._prepare(header)
            if name in _NEED_CUDA_LIBRARIES:
                self.load_cuda_libraries()
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
        names = _SUBLIBRARIES.get(header, ())
        for name in names:
            self._load_beside(f"libcudnn_{name}.so.9")
        if names and "others" not in self._prepared:
            self._prepared.add("others")
            if elsewhere_on_library_path(self.path.parent):
                for file in sorted(self.path.parent.glob("libcudnn_*.so.9")):
                    self._load_beside(file.name)

    def _load_beside(self, soname: str) -> None:
        if soname in self._prepared:
            return
        self._prepared.add(soname)
        file = self.path.with_name(soname)
        if file.is_file():
            # Without a driver the engines cannot be loaded, and most of cuDNN works all the same.
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(file))

    def load_cuda_libraries(self) -> None:
        """Load the NVRTC and cuBLAS that belong to this library, where they can be found."""
        if "cuda" in self._prepared:
            return
        self._prepared.add("cuda")
        present = {file.name for file in cuda_library_files()}
        for name in ("nvrtc", "cublasLt", "cublas"):
            soname = f"lib{name}.so.{self.cuda_major}"
            if soname not in present and not self._load_from_wheel(name, soname):
                _load_with_pathfinder(name)

    def _load_from_wheel(self, name: str, soname: str) -> bool:
        """Load a CUDA library from the wheel installed beside cuDNN's, if there is one."""
        wheels = Path(os.path.normpath(self.path.parent / ".." / ".."))
        folder = "cuda_nvrtc" if name == "nvrtc" else "cublas"
        for wheel in (wheels / folder, wheels / f"cu{self.cuda_major}"):  # CUDA 12, CUDA 13
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(wheel / "lib" / soname))
                return True
        return False


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
            text = str(error).removeprefix(f"{path}: ")
            tried.append(f"{source}: {path}: {text}")
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
        old = f"{version // 1000}.{version // 100 % 10}.{version % 100}"
        raise OSError(f"this is cuDNN {old}, and cuDNN 9 is needed")
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


def version_text(version: int) -> str:
    """92800 as "9.28.0"."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


def _version_number(text: str) -> int:
    major, minor, patch = (int(part) for part in text.split("."))
    return major * 10000 + minor * 100 + patch
