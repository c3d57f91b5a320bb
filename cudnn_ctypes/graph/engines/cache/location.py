"""Where the plan cache is: as an argument says, the environment, or the custom of the system."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ....raw.values import described

__all__ = ["ENVIRONMENT_VARIABLE", "as_folder", "by_environment", "standard_folder"]

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_CACHE"


def as_folder(folder: Any) -> Path:
    """The folder that an argument `cache` names.

    Raises
    ------
    TypeError, ValueError
        If it names none.
    """
    if not isinstance(folder, (str, os.PathLike)):
        raise TypeError(
            f"cache: expected True, False, a folder or a PlanCache, got {described(folder)}"
        )
    path = os.fspath(folder)
    if not isinstance(path, str) or not path or "\0" in path:
        raise ValueError(f"cache: expected the name of a folder, got {path!r}")
    return Path(path).expanduser().absolute()


def standard_folder() -> Path:
    """The folder of the environment variable, else that among the user's caches.

    Raises
    ------
    ValueError
        If the environment variable has a value that is not known; if the user has no home.
    """
    named = by_environment()
    if isinstance(named, Path):
        return named
    # As the XDG base directory specification says; packages for it take 10 ms to load.
    caches = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(caches) if os.path.isabs(caches) else Path.home() / ".cache"
    except RuntimeError:
        raise ValueError(
            f"cache: this user has no home: give a folder, or set {ENVIRONMENT_VARIABLE} to one"
        ) from None
    return folder / "cudnn_ctypes" / "plans"


def by_environment() -> bool | Path | None:
    """The environment variable's choice: whether there is a cache, or its folder; None if unset."""
    value = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not value:
        return None
    if value in ("0", "1"):
        return value == "1"
    folder = Path(value).expanduser()
    if not folder.is_absolute():
        raise ValueError(
            f"{ENVIRONMENT_VARIABLE}={value!r}: expected 1 (a cache in the user's folder for "
            "caches), 0 (none) or the absolute path of a folder"
        )
    return folder
