"""Facts that the loaded cuDNN reports: versions, error strings, errors of earlier kernels."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator
from ..errors import SymbolNotFoundError
from ..handle import Handle
from .descriptor import answer


class Version(NamedTuple):
    """A version number, printed as "9.28.0"."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True)
class LibraryVersions:
    """The versions of the loaded cuDNN and of its CUDA runtime.

    Attributes
    ----------
    cudnn : Version
        The version from ``cudnnGetProperty``.
    number : int
        ``cudnnGetVersion``: 92800 for 9.28.0.
    cuda_runtime : Version
        The CUDA runtime with which it was built, ``cudnnGetCudartVersion``.
    newest_compute_capability : tuple of int
        The compute capability of the newest GPUs that it knows, ``cudnnGetMaxDeviceVersion``.

    Examples
    --------
    >>> versions = library_versions()
    >>> versions.number // 10000 == versions.cudnn.major
    True
    """

    cudnn: Version
    number: int
    cuda_runtime: Version
    newest_compute_capability: tuple[int, int]

    def __str__(self) -> str:
        newest = ".".join(map(str, self.newest_compute_capability))
        return (
            f"cuDNN {self.cudnn} for CUDA {self.cuda_runtime.major}.{self.cuda_runtime.minor}, "
            f"compute capability up to {newest}"
        )


def library_versions() -> LibraryVersions:
    """The versions of the loaded library (``cudnnGetVersion``); loads it if necessary.

    Raises
    ------
    LibraryNotFoundError
        If no usable cuDNN can be loaded.

    Examples
    --------
    >>> library_versions().cudnn.major
    9
    """
    parts = [answer(raw.cudnnGetProperty, name) for name in raw.libraryPropertyType]
    runtime, device = int(raw.cudnnGetCudartVersion()), int(raw.cudnnGetMaxDeviceVersion())
    return LibraryVersions(
        Version(*parts),
        int(raw.cudnnGetVersion()),
        Version(runtime // 1000, runtime // 10 % 100, runtime % 10),
        (device // 100, device // 10 % 10),
    )


_VERSION_CHECKS = {
    "graph": raw.cudnnGraphVersionCheck,
    "ops": raw.cudnnOpsVersionCheck,
    "cnn": raw.cudnnCnnVersionCheck,
    "adv": raw.cudnnAdvVersionCheck,
    "subquadratic_ops": raw.cudnnSubquadraticOpsVersionCheck,
}


def check_sublibraries() -> dict[str, raw.cudnnStatus_t | None]:
    """Check that the sublibraries have the main library's version.

    Follows ``cudnnGraphVersionCheck``, ``cudnnOpsVersionCheck``, ``cudnnCnnVersionCheck``,
    ``cudnnAdvVersionCheck`` and ``cudnnSubquadraticOpsVersionCheck``.

    Returns
    -------
    dict
        The status by the sublibrary's name; None if the loaded library lacks the function.

    Raises
    ------
    LibraryNotFoundError
        If no usable cuDNN can be loaded.

    Examples
    --------
    >>> check_sublibraries()["graph"].name
    'CUDNN_STATUS_SUCCESS'
    """
    statuses: dict[str, raw.cudnnStatus_t | None] = {}
    for name, check in _VERSION_CHECKS.items():
        try:
            statuses[name] = check.unchecked()
        except SymbolNotFoundError:
            statuses[name] = None
    return statuses


def error_string(status: int) -> str:
    """cuDNN's text for a status; follows ``cudnnGetErrorString``.

    Raises
    ------
    ValueError
        If `status` is no number.
    LibraryNotFoundError
        If no usable cuDNN can be loaded.

    Examples
    --------
    >>> error_string(2000)
    'CUDNN_STATUS_BAD_PARAM'
    """
    text: str = raw.cudnnGetErrorString(raw.cudnnStatus_t(status))
    return text


def last_error_string(max_size: int = 4096) -> str:
    """cuDNN's message about the latest error of this thread; ``cudnnGetLastErrorString``.

    Every `CudnnError` has this message as ``detail``; use this function for statuses from
    ``raw.cudnnX.unchecked``. Reading the message resets it.

    Parameters
    ----------
    max_size : int
        The largest number of bytes to read.

    Raises
    ------
    ValueError
        If `max_size` is below 0.
    LibraryNotFoundError
        If no usable cuDNN can be loaded.

    Examples
    --------
    >>> status = raw.cudnnCreate.unchecked(None)
    >>> last_error_string() != ""
    True
    """
    buffer = ctypes.create_string_buffer(max_size)
    raw.cudnnGetLastErrorString(buffer, max_size)
    return buffer.value.decode("utf-8", "replace")


def query_runtime_error(handle: Handle, mode: Any = "rawcode") -> raw.cudnnStatus_t:
    """Whether a kernel launched on the handle found an error; ``cudnnQueryRuntimeError``.

    Parameters
    ----------
    mode : cudnnErrQueryMode_t or str
        "rawcode", "nonblocking" or "blocking"; "blocking" waits for the handle's stream.

    Returns
    -------
    cudnnStatus_t
        Success if no error was found.

    Raises
    ------
    TypeError
        If `handle` is no `Handle`.
    ValueError
        For an unknown mode.
    ClosedError
        If the handle is closed.

    Examples
    --------
    >>> with Handle() as handle:
    ...     query_runtime_error(handle).name
    'CUDNN_STATUS_SUCCESS'
    """
    status = raw.cudnnStatus_t()
    member = enumerator(raw.cudnnErrQueryMode_t, mode, "mode")
    raw.cudnnQueryRuntimeError(handle, status, member, None)
    return raw.cudnnStatus_t(status.value)
