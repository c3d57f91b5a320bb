"""cuDNN's sublibraries: all from the main library's folder, or an error.

cuDNN opens them by name when it needs them, each under several names: ``libcudnn_ops.so.9.28.0``,
``….so.9.28``, ``….so.9``, ``….so``. ``LD_LIBRARY_PATH`` outranks the folder of the library that
asks (DT_RUNPATH), so another cuDNN there would supply some of them. The loader returns a loaded
library for its soname. So the sublibraries of the chosen folder are loaded first, in the order of
their dependencies, and the longer names are made aliases of them. Without another cuDNN within the
loader's reach, only the sublibraries that the called function needs are loaded.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from ..errors import LibraryNotFoundError
from . import elf, process

__all__ = ["Sublibraries", "usable"]

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

    Raises
    ------
    OSError
        If a file is not safe to load, or the sublibraries are missing.
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

    Raises
    ------
    LibraryNotFoundError
        From the constructor and all methods, if the process would have two cuDNN libraries; the
        message has both paths.
    """

    def __init__(self, main: Path) -> None:
        self._main = main
        self._loaded: set[str] = set()
        self.require_one_cudnn()
        own = {process.identity(file) for file in main.parent.glob("libcudnn*")}
        self._rivals = [
            file for file in process.loader_files() if process.identity(file) not in own
        ]
        # "" and other relative entries of the path depend on the current directory.
        if self._rivals or not all(map(os.path.isabs, process.library_path())):
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
        if found := process.mixture(self._main):
            mapped, own = found
            raise LibraryNotFoundError(
                f"two cuDNN libraries in one process: {mapped} is loaded already, and {own} "
                f"belongs to the chosen {self._main}. Keep one: {process.ONE_CUDNN}"
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
                f"({error}). Keep one: {process.ONE_CUDNN}"
            ) from None


def _part(file: Path) -> str:
    """A sublibrary's name, "ops" for ``libcudnn_ops.so.9.28.0``; "" for the main library."""
    return file.name.split(".so")[0].removeprefix("libcudnn").removeprefix("_")
