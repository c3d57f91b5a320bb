"""The cuDNN headers on this machine: their folder, and functions that extract their comments.

The generator of layer 1 uses this module too, so layer 1 is imported only to find its library.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# cudnn.h of older versions does not include the last headers; old versions lack some headers.
HEADERS = (
    "cudnn_version.h",
    "cudnn_graph.h",
    "cudnn_ops.h",
    "cudnn_cnn.h",
    "cudnn_adv.h",
    "cudnn_backend.h",
    "cudnn_subquadratic_ops.h",
    "cudnn_gnn_ops.h",
)

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def include_folder() -> Path | None:
    """The folder of the headers that belong to the first cuDNN found; None without headers.

    The search goes through folders beside the library in use, beside the candidates for loading in
    their order, and the system's header folders. No library is loaded.
    """
    for folder in _folders():
        if (folder / "cudnn_graph.h").is_file():  # cuDNN 8 lacks this header
            return folder
    return None


def _folders() -> Iterator[Path]:
    from ..errors import LibraryNotFoundError
    from .library import candidates, loaded_library

    if library := loaded_library():
        yield from _beside(library.path)
    with contextlib.suppress(LibraryNotFoundError):
        for _, file in candidates([]):
            yield from _beside(file)
    for prefix in (sys.prefix, "/usr", "/usr/local", "/usr/local/cuda"):
        yield Path(prefix, "include")
        yield from sorted(Path(prefix, "include").glob("*-linux-gnu"))


def _beside(library: Path) -> Iterator[Path]:
    """Possible header folders for ``lib/libcudnn.so`` or ``lib/x86_64-linux-gnu/libcudnn.so``."""
    for above in library.parents[:3]:
        yield above / "include"
