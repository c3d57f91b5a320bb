"""C's flow of a program: labels, scopes, exit and time, and launches of kernels."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ...raw import mode
from .memory import Pointer

__all__ = [
    "Kernels",
    "Label",
    "NotTranslatedError",
    "Scope",
    "c_exit",
    "c_time",
    "clock",
    "run",
]


class NotTranslatedError(Exception):
    """The program reached C code that was not translated; the message holds line and reason.

    It is none of C++'s exceptions, so ``catch`` lets it pass.
    """


class _Goto(Exception):
    pass


class Label:
    """The target of ``goto``: what stands after ``with Label() as cleanup:``.

    Examples
    --------
    >>> from cudnn_ctypes.porting.runtime import Label
    >>> with Label() as cleanup:
    ...     cleanup.goto()
    ...     print("never printed")
    """

    def __enter__(self) -> Label:
        return self

    def goto(self) -> None:
        """Leave the block."""
        raise _Goto(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return isinstance(error, _Goto) and error.args[0] is self


class Scope:
    """A block of C++: objects that live in it are destroyed at its end, the last one first."""

    def __init__(self) -> None:
        self._objects: list[Any] = []

    def __call__(self, thing: Any) -> Any:
        """Have an object destroyed at the end of the block."""
        self._objects.append(thing)
        return thing

    def __enter__(self) -> Scope:
        return self

    def __exit__(self, *error: object) -> None:
        while self._objects:
            self._objects.pop().destroy()


def c_exit(status: int = 0) -> None:
    """C's ``exit``."""
    sys.stdout.flush()
    raise SystemExit(status)


def c_time() -> int:
    """C's ``time(NULL)``."""
    return int(time.time())


def clock() -> int:
    """C's ``clock``: microseconds of this process."""
    return int(time.process_time() * 1e6)


def run(main: Callable[..., Any]) -> None:
    """Call C's ``main`` with the command line and end with its status.

    Float arithmetic goes to infinity and NaN without warnings, as in C.
    """
    if int(np.__version__.partition(".")[0]) < 2:
        raise ImportError(
            f"expected NumPy 2, which computes with float as C does, got {np.__version__}"
        )
    arguments = [len(sys.argv), list(sys.argv)] if main.__code__.co_argcount else []
    try:
        with np.errstate(all="ignore"):
            status = main(*arguments)
    finally:
        sys.stdout.flush()
    sys.exit(status or 0)


class Kernels:
    """The kernels of a program, by name.

    Parameters
    ----------
    source : str
        CUDA C++: the kernels and what they use.
    *names : str
        The kernels that are launched, with their template arguments.

    Examples
    --------
    >>> kernels = Kernels("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }", "twice")
    >>> kernels.launch("twice", 1, 32, 0, None, x)  # doctest: +SKIP
    """

    def __init__(self, source: str, *names: str) -> None:
        self._source, self._names = source, names
        self._compiled: dict[str, Any] = {}

    def launch(
        self, name: str, grid: Any, block: Any, shared: int, stream: Any, *arguments: Any
    ) -> None:
        """C's ``name<<<grid, block, shared, stream>>>(arguments)``.

        Parameters
        ----------
        name : str
            The kernel, with its template arguments.
        grid, block : int or dim3
        shared : int
            Bytes of dynamic shared memory.
        stream : raw.cudaStream_t or None
        *arguments : ctypes objects, device memory or NumPy scalars

        Raises
        ------
        NotTranslatedError
            On the reference device, which runs no CUDA code.
        """
        if mode.runtime.on_host:
            raise NotTranslatedError(
                f"{name}: a kernel was reached; the reference device runs cuDNN's functions only, "
                f"so this program needs an NVIDIA GPU from here on (`python -m cudnn_ctypes run` "
                f"of the C program runs its kernels on the host)"
            )
        from cuda.core import Device, LaunchConfig, Stream, launch

        device = Device()
        device.set_current()
        if not self._compiled:
            self._compile(device)
        kernel = self._compiled[name]
        address = getattr(stream, "value", stream) or 0
        where = Stream.from_handle(address) if address else device.default_stream
        config = LaunchConfig(grid=_sizes(grid), block=_sizes(block), shmem_size=int(shared))
        launch(where, config, kernel, *map(_argument, arguments))

    def _compile(self, device: Any) -> None:
        from cuda.core import Program, ProgramOptions

        folders = cuda_headers() if "#include" in self._source else []
        options = ProgramOptions(
            std="c++17", arch=f"sm_{device.arch}", include_path=folders or None
        )
        program = Program(self._source, code_type="c++", options=options)
        module = program.compile("cubin", name_expressions=self._names)
        self._compiled = {name: module.get_kernel(name) for name in self._names}


def cuda_headers() -> list[str]:
    """Folders with the headers of the CUDA runtime: of `cuda.pathfinder` and of the toolkit."""
    from cuda.pathfinder import find_nvidia_header_directory

    found = [find_nvidia_header_directory("cudart"), "/usr/local/cuda/include"]
    return [str(one) for one in found if one and Path(one).is_dir()]


def _sizes(value: Any) -> tuple[int, int, int]:
    x, y, z = value if hasattr(value, "__iter__") else (value, 1, 1)
    return int(x), int(y), int(z)


def _argument(value: Any) -> Any:
    if value is None or isinstance(value, ctypes.c_void_p):
        return int(getattr(value, "value", None) or 0)
    if isinstance(value, (np.generic, ctypes._SimpleCData)):
        return value
    if isinstance(value, Pointer):
        raise TypeError("expected device memory for a kernel, got host memory")
    return value
