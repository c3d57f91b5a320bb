"""Kernels of the program: CUDA C++ that NVRTC compiles when the first of them is launched."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from ...raw import mode
from .flow import NotTranslatedError
from .memory import Pointer

__all__ = ["Kernels"]


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
        if mode.reference_device_active:
            raise NotTranslatedError(
                f"{name}: a kernel was reached; the reference device runs cuDNN's functions only, "
                f"so this program needs an NVIDIA GPU from here on"
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
