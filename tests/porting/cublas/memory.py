"""Arrays on the device, by cudart, and a handle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref
from typing import Any

import numpy as np

from cudnn_ctypes import cublas, cudart


class Memory:
    """Device memory for arrays, freed at the end."""

    def __init__(self) -> None:
        self.pointers: list[cudart.DevicePointer] = []

    def put(self, array: np.ndarray[Any, Any]) -> cudart.DevicePointer:
        """The bytes of an array as they lie in memory."""
        pointer = cudart.DevicePointer()
        cudart.cudaMalloc(byref(pointer), array.nbytes)
        cudart.cudaMemcpy(pointer, array, array.nbytes, cudart.cudaMemcpyHostToDevice)
        self.pointers.append(pointer)
        return pointer

    @staticmethod
    def get(pointer: Any, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """An array of the shape, layout and type of another."""
        found = np.empty_like(like)
        cudart.cudaMemcpy(found, pointer, found.nbytes, cudart.cudaMemcpyDeviceToHost)
        return found


@contextmanager
def device() -> Iterator[tuple[cublas.cublasHandle_t, Memory]]:
    """A handle, and memory."""
    handle, memory = cublas.cublasHandle_t(), Memory()
    cublas.cublasCreate(byref(handle))
    try:
        yield handle, memory
    finally:
        cublas.cublasDestroy(handle)
        for pointer in memory.pointers:
            cudart.cudaFree(pointer)
