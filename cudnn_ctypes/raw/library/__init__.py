"""Loads libcudnn, its sublibraries and the CUDA libraries that it needs.

`candidates` lists the places searched. Files are checked before the loader gets them, and a process
has one cuDNN.

cuDNN opens its sublibraries by name when it needs them, each under several names:
``libcudnn_ops.so.9.28.0``, ``….so.9.28``, ``….so.9``, ``….so``. ``LD_LIBRARY_PATH`` outranks the
folder of the library that asks (DT_RUNPATH), so another cuDNN there would supply some of them. The
loader returns a loaded library for its soname. So the sublibraries of the chosen folder are loaded
first, in the order of their dependencies, and the longer names are made aliases of them. Without
another cuDNN within the loader's reach, only the sublibraries that the called function needs are
loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import LibraryNotFoundError, SymbolNotFoundError
from .. import callback
from ..process import new_lock, new_reentrant_lock
from . import elf, loaded
from .loaded import cuda_library_files

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
        (", ".join(_ROOTS), "none", _below(*_ROOTS)),
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
    files = [file for file in loaded.cudnn_files() if ".so.9" in file.name]
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
    for file in loaded.loader_files():
        if file.name == SONAME and file.is_absolute():
            yield from _existing(file)


def _existing(file: Path) -> list[Path]:
    return [file] if os.path.lexists(file) else []


# By header; dependencies first. cuDNN opens the others (engines, heuristics) for graphs and
# handles, some of them large.
_OF_HEADER = {
    "cudnn_graph.h": ("graph",),
    "cudnn_ops.h": ("graph", "ops"),
    "cudnn_cnn.h": ("graph", "ops", "cnn"),
    "cudnn_adv.h": ("graph", "ops", "adv"),
    "cudnn_subquadratic_ops.h": ("graph", "ext"),
    "cudnn_gnn_ops.h": ("graph", "ext"),
}


def usable(main: Path) -> Path:
    """The main library to open for the file `main`, after a check of all files in its folder.

    Raises OSError if a file is not safe to load, or the sublibraries are missing.
    """
    if reason := elf.defect(main):
        raise OSError(reason)
    if main.name.startswith("libcudnn_"):
        raise OSError("this is a sublibrary: libcudnn.so.9 is the main library")
    with main.open("rb") as file:
        loads_sublibraries = b"libcudnn_graph" in file.read(1 << 22)
    if loads_sublibraries and not os.path.lexists(_beside(main, "graph")):
        # A lone link to the main library: the sublibraries are beside its target.
        main = main.resolve()
        if not os.path.lexists(_beside(main, "graph")):
            raise OSError(
                f"{main.parent} holds the main library alone, without libcudnn_graph.so.9 and the "
                "other sublibraries, which belong beside it"
            )
    for name in sorted(os.listdir(main.parent)):
        if name.startswith("libcudnn_") and name.endswith(".so.9"):
            sublibrary = main.with_name(name)
            if reason := elf.defect(sublibrary):
                raise OSError(f"{sublibrary}, which belongs to it: {reason}")
    return main


def _beside(main: Path, part: str) -> Path:
    return main.with_name(f"libcudnn_{part}.so.9")


class Sublibraries:
    """The sublibraries in the folder of the main library `main`.

    Raises LibraryNotFoundError from the constructor and all methods, if the process would have two
    cuDNN libraries; the message has both paths.
    """

    def __init__(self, main: Path) -> None:
        self._main = main
        self._loaded: set[str] = set()
        self.require_one_cudnn()
        own = {loaded.identity(file) for file in main.parent.glob("libcudnn*")}
        others = loaded.loader_files()
        self._rivals = [file for file in others if loaded.identity(file) not in own]
        # "" and other relative entries of the path depend on the current directory.
        if self._rivals or not all(map(os.path.isabs, loaded.library_path())):
            self._load_all()
        self._load("graph")

    def prepare(self, header: str) -> None:
        """Load the sublibraries that the functions of a header need."""
        missing = [part for part in _OF_HEADER.get(header, ()) if part not in self._loaded]
        for part in missing:
            self._load(part)
        if missing:
            self.require_one_cudnn()

    def absent(self, header: str) -> str:
        """The sublibrary of a header's functions that this build lacks; "" if none."""
        if not _beside(self._main, "graph").exists():  # a single file has all functions
            return ""
        files = (_beside(self._main, part) for part in _OF_HEADER.get(header, ()) if part != "ext")
        return next((file.name for file in files if not file.exists()), "")

    def prepare_engines(self) -> None:
        """Load the engine libraries that finalizing opens, if another cuDNN could supply them."""
        if not self._rivals:
            return
        self._load_all()
        for rival in self._rivals:
            part = _part(rival)
            own = _beside(self._main, part)
            if part not in self._loaded and own.exists():
                raise LibraryNotFoundError(
                    f"{own} needs libcuda.so.1, which comes with the NVIDIA driver and cannot be "
                    f"loaded: cuDNN would take {rival} in its place, of another cuDNN. Remove "
                    f"{rival.parent} from LD_LIBRARY_PATH"
                )
        self.require_one_cudnn()

    def require_one_cudnn(self) -> None:
        if found := loaded.mixture(self._main):
            mapped, own = found
            raise LibraryNotFoundError(
                f"two cuDNN libraries in one process: {mapped} is loaded already, and {own} "
                f"belongs to the chosen {self._main}. Keep one: {loaded.ONE_CUDNN}"
            )

    def _load_all(self) -> None:
        files = {file.name for file in self._main.parent.glob("libcudnn_*.so.9")}
        parts = {_part(Path(name)) for name in files} | {_part(file) for file in self._rivals}
        first = [part for part in ("graph", "ops") if part in parts]  # others link against them
        for part in (*first, *sorted(parts - {"graph", "ops", ""})):
            self._load(part)

    def _load(self, part: str) -> None:
        if part in self._loaded:
            return
        file = _beside(self._main, part)
        own = file.name if file.exists() else None
        if own:
            try:
                ctypes.CDLL(str(file))
            except OSError as error:
                # Without a driver the engines cannot be loaded, but most of cuDNN works.
                if "libcuda.so.1" in str(error):
                    return
                raise LibraryNotFoundError(f"{error} (a sublibrary of {self._main})") from None
        self._loaded.add(part)
        for rival in self._rivals:
            if _part(rival) == part and rival.name != own:
                self._shield(rival, own)

    def _shield(self, rival: Path, own: str | None) -> None:
        """Make the loader find `own`, or an empty library, under the name of a rival's file."""
        try:
            alias = elf.shared_object(rival.name, needed=[own] if own else [])
            elf.load_from_memory(alias, rival.name)
        except OSError as error:
            raise LibraryNotFoundError(
                f"{self._main} would take {rival}, of another cuDNN, and it cannot be kept out "
                f"({error}). Keep one: {loaded.ONE_CUDNN}"
            ) from None


def _part(file: Path) -> str:
    """A sublibrary's name, "ops" for ``libcudnn_ops.so.9.28.0``; "" for the main library."""
    return file.name.split(".so")[0].removeprefix("libcudnn").removeprefix("_")


_INSTALL = (
    "Install one: `pip install 'cudnn-ctypes[cu12]'` (or [cu13] for CUDA 13), or set "
    f"{ENVIRONMENT_VARIABLE} to the absolute path of {SONAME}; "
    "`python -m cudnn_ctypes doctor` shows what is there."
)

_REDUCED = (
    "Reduced builds (the nvidia-cudnn-jit wheels) hold the graph API only: install the full "
    "nvidia-cudnn wheel."
)

# From this version on, functions of an absent sublibrary return a status; 9.16 ends the process.
_TELLS_OF_ABSENT_SUBLIBRARIES = 91700

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
        The place that had it.
    version : int
        ``cudnnGetVersion()``: 92800 for 9.28.0.
    cuda_major : int
        Major version of the CUDA runtime that it was built for.
    passed_over : tuple of str
        Earlier candidates, and the reason why each was not loaded.
    has_precompiled_engines : bool
        Whether this is no reduced build, whose engines are for runtime fusion alone.
    """

    path: Path
    source: str
    cdll: ctypes.CDLL
    version: int
    cuda_major: int
    passed_over: tuple[str, ...]
    has_precompiled_engines: bool = field(init=False)
    _sublibraries: Sublibraries
    _cuda_libraries_loaded: bool = False
    _missing: set[str] = field(default_factory=set)  # names of CUDA libraries
    # Reentrant: objects that are collected while a library is loaded are destroyed in this thread.
    _lock: threading.RLock = field(default_factory=new_reentrant_lock)

    def __post_init__(self) -> None:
        precompiled = self.path.with_name("libcudnn_engines_precompiled.so.9")
        self.has_precompiled_engines = precompiled.exists()

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
            raise SymbolNotFoundError(self._absent(name, since))
        if self.version < _TELLS_OF_ABSENT_SUBLIBRARIES and (
            file := self._sublibraries.absent(header)
        ):
            raise SymbolNotFoundError(
                f"{name} is in {file}, which this build lacks; {self._loaded}. {_REDUCED}"
            )
        with self._lock:  # other threads wait until the libraries are loaded
            self._sublibraries.prepare(header)
            if name in _NEED_CUDA_LIBRARIES:
                self.load_cuda_libraries()
            if name == "cudnnBackendFinalize":
                self._sublibraries.prepare_engines()
        return callback.stand_in(name) or found

    def outdated(self, name: str, since: str) -> str:
        """The message for a `name` that came after this library, with `since`; "" if it did not."""
        if _version_number(since) <= self.version:
            return ""
        return f"{name} needs cuDNN {since}; {self._loaded}. Install a newer cuDNN."

    def _absent(self, name: str, since: str) -> str:
        return self.outdated(name, since) or (
            f"{name} is in cuDNN's headers since {since}, but this build does not export it; "
            f"{self._loaded}. {_REDUCED}"
        )

    @property
    def _loaded(self) -> str:
        return f"loaded is {self.version_text} from {self.path} ({self.source})"

    def load_cuda_libraries(self) -> None:
        """Load the NVRTC and cuBLAS that belong to this library, where they can be found."""
        if self._cuda_libraries_loaded:
            return
        self._cuda_libraries_loaded = True
        present = {file.name for file in cuda_library_files()}
        for name in ("nvrtc", "cublasLt", "cublas"):
            soname = f"lib{name}.so.{self.cuda_major}"
            if not (
                soname in present
                or self._load_from_wheel(name, soname)
                or _load_with_pathfinder(name)
            ):
                self._missing.add(soname)
        self._load_nvrtc_builtins()

    def _load_nvrtc_builtins(self) -> None:
        """Load what NVRTC opens by name when it compiles: that of CUDA 13.0 has no RUNPATH."""
        for file in cuda_library_files():
            if file.name.startswith(f"libnvrtc.so.{self.cuda_major}"):
                for builtins in file.parent.glob(f"libnvrtc-builtins.so.{self.cuda_major}*"):
                    with contextlib.suppress(OSError):
                        ctypes.CDLL(str(builtins))

    @property
    def lacks_cublas(self) -> str:
        """Why some questions about engines would end the process; "" if none would."""
        soname = f"libcublasLt.so.{self.cuda_major}"
        if soname not in self._missing:
            return ""
        if not self.has_precompiled_engines:
            return ""  # a reduced build does without it
        package = "nvidia-cublas-cu12" if self.cuda_major == 12 else "nvidia-cublas"
        return (
            f"cuDNN {self.version_text} ends the process when it is asked for engines of this "
            f"graph without {soname}, which is not found; install it ({package})"
        )

    def _load_from_wheel(self, name: str, soname: str) -> bool:
        """Load a CUDA library from the wheel installed beside cuDNN's, if there is one."""
        wheels = Path(os.path.normpath(self.path.parent / ".." / ".."))
        folder = "cuda_nvrtc" if name == "nvrtc" else "cublas"
        for wheel in (wheels / folder, wheels / f"cu{self.cuda_major}"):  # CUDA 12, CUDA 13
            file = wheel / "lib" / soname
            if not file.exists():
                continue
            if reason := elf.defect(file):
                raise LibraryNotFoundError(f"{file}, which cuDNN would load: {reason}")
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(file))
                return True
        return False


def _load_with_pathfinder(name: str) -> bool:
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    # Where it is missing, cuDNN says so itself when it needs it, and the doctor shows the gap.
    with contextlib.suppress(DynamicLibNotFoundError, RuntimeError):
        load_nvidia_dynamic_lib(name)
        return True
    return False


_lock = new_lock()
_logger = logging.getLogger(__name__)

_loaded: Library | None = None


def loaded_library() -> Library | None:
    """The library that this package has loaded; None before the first call into C."""
    return _loaded


_ELSEWHERE = {
    "win32": "under Windows, install this package in WSL 2 (`wsl --install`); it has the GPU",
    "darwin": "NVIDIA has none for macOS; use a container or a virtual machine with Linux",
}
"""By ``sys.platform``: how to come to a Linux."""


def load() -> Library:
    """The cuDNN library; the first call loads it.

    Raises
    ------
    LibraryNotFoundError
        If no cuDNN can be loaded; the message lists the places tried.
    """
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _find()
    return _loaded


def _find() -> Library:
    if sys.platform != "linux":
        where = _ELSEWHERE.get(sys.platform, f"this is {sys.platform}")
        raise LibraryNotFoundError(
            f"cuDNN is loaded on Linux alone: {where}. Without it, graphs can be described, drawn "
            "and written as JSON, and the commands lookup, port and examples work"
        )
    tried: list[str] = []
    for source, path in candidates(tried):
        try:
            library = _open(path, source, tried)
        except LibraryNotFoundError:  # no other library may be loaded now
            raise
        except OSError as error:
            text = str(error).removeprefix(f"{path}: ")
            tried.append(f"{source}: {path}: {text}")
            _logger.debug("passed over %s", tried[-1])
        else:
            _logger.info("cuDNN %s from %s (%s)", library.version_text, path, source)
            return library
    places = "\n".join(f"  - {place}" for place in tried)
    raise LibraryNotFoundError(f"no usable cuDNN 9 library found. Tried:\n{places}\n{_INSTALL}")


def _open(path: Path, source: str, tried: list[str]) -> Library:
    path = usable(path)
    sublibraries = Sublibraries(path)
    cdll = ctypes.CDLL(str(path))
    sublibraries.require_one_cudnn()
    version = _size_t_function(cdll, "cudnnGetVersion", path)
    if version < 90000:
        # cuDNN 8 counted major * 1000 + minor * 100 + patch.
        old = f"{version // 1000}.{version // 100 % 10}.{version % 100}"
        raise OSError(f"this is cuDNN {old}, and cuDNN 9 is needed")
    callback.install(cdll["cudnnSetCallback"], cdll["cudnnGetCallback"])
    with callback.quiet():
        cuda_major = _size_t_function(cdll, "cudnnGetCudartVersion", path) // 1000
    passed_over = tuple(line for line in tried if SONAME in line)
    return Library(path, source, cdll, version, cuda_major, passed_over, sublibraries)


def _size_t_function(cdll: ctypes.CDLL, name: str, path: Path) -> int:
    try:
        symbol = cdll[name]
    except AttributeError:
        raise OSError(f"{path} exports no {name}: it is not a cuDNN library") from None
    symbol.restype = ctypes.c_size_t
    symbol.argtypes = []
    return int(symbol())


def version_text(version: int) -> str:
    """A version number as text: "9.28.0" for 92800."""
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


def _version_number(text: str) -> int:
    major, minor, patch = (int(part) for part in text.split("."))
    return major * 10000 + minor * 100 + patch
