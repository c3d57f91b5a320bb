"""Loads libcudnn, its sublibraries and the CUDA libraries that it needs.

`candidates` lists the places searched. Files are checked before the loader gets them, and a process
has one cuDNN: see `sublibraries`.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import LibraryNotFoundError, SymbolNotFoundError
from ..process import new_lock
from . import callback, elf
from .candidates import ENVIRONMENT_VARIABLE, SONAME, candidates
from .process import cuda_library_files
from .sublibraries import Sublibraries, usable

__all__ = ["Library", "load", "loaded_library", "version_text"]

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
    """

    path: Path
    source: str
    cdll: ctypes.CDLL
    version: int
    cuda_major: int
    passed_over: tuple[str, ...]
    _sublibraries: Sublibraries
    _cuda_libraries_loaded: bool = False
    _missing: set[str] = field(default_factory=set)  # names of CUDA libraries
    _lock: threading.Lock = field(default_factory=new_lock)

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
            raise SymbolNotFoundError(self._without(file, name))
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

    def _without(self, file: str, name: str) -> str:
        return f"{name} is in {file}, which this build lacks; {self._loaded}. {_REDUCED}"

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
        if not self.path.with_name("libcudnn_engines_precompiled.so.9").exists():
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
