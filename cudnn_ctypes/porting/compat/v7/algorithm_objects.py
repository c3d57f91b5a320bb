"""Descriptors of algorithms, and their results in a search."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from .... import raw
from . import made_objects
from .old_function import Arguments, implements
from .types import cudnnAlgorithm_t, cudnnAlgorithmPerformance_t

__all__: list[str] = []


@dataclass
class Performance:
    """The values set by `cudnnSetAlgorithmPerformance`."""

    algorithm: int | None = None  # address of the algorithm's descriptor
    status: int = 0
    time: float = 0.0
    memory: int = 0


@implements("cudnnCreateAlgorithmDescriptor(cudnnAlgorithmDescriptor_t *algoDesc)")
def create(a: Arguments) -> None:
    a.require("algoDesc")
    made_objects.create(a.algoDesc, cudnnAlgorithm_t())


@implements(
    "cudnnSetAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc, cudnnAlgorithm_t algorithm)"
)
def set_(a: Arguments) -> None:
    _assign(made_objects.held(a.algoDesc, "algoDesc"), a.algorithm)


@implements(
    """
    cudnnGetAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t algoDesc,
    cudnnAlgorithm_t *algorithm)
    """
)
def get(a: Arguments) -> None:
    a.require("algorithm")
    _assign(a.algorithm, made_objects.held(a.algoDesc, "algoDesc"))


@implements(
    """
    cudnnCopyAlgorithmDescriptor(const cudnnAlgorithmDescriptor_t src,
    cudnnAlgorithmDescriptor_t dest)
    """
)
def copy(a: Arguments) -> None:
    _assign(made_objects.held(a.dest, "dest"), made_objects.held(a.src, "src"))


@implements("cudnnDestroyAlgorithmDescriptor(cudnnAlgorithmDescriptor_t algoDesc)")
def destroy(a: Arguments) -> None:
    made_objects.destroy(a.algoDesc, "algoDesc")


def _assign(target: Any, source: Any) -> None:
    ctypes.memmove(ctypes.byref(target), ctypes.byref(source), ctypes.sizeof(cudnnAlgorithm_t))


@implements(
    """
    cudnnCreateAlgorithmPerformance(cudnnAlgorithmPerformance_t algoPerf[], int numberToCreate)
    """
)
def create_performances(a: Arguments) -> None:
    for each in _several(a, a.numberToCreate):
        made_objects.create(each, Performance())


@implements(
    """
    cudnnDestroyAlgorithmPerformance(cudnnAlgorithmPerformance_t algoPerf[], int numberToDestroy)
    """
)
def destroy_performances(a: Arguments) -> None:
    for each in _several(a, a.numberToDestroy):
        made_objects.destroy(each, "algoPerf")


def _several(a: Arguments, count: int) -> list[Any]:
    """The first handles of an array, or a single handle."""
    a.require("algoPerf")
    target = getattr(a.algoPerf, "_obj", a.algoPerf)
    return [target] if isinstance(target, cudnnAlgorithmPerformance_t) else list(target[:count])


@implements(
    """
    cudnnSetAlgorithmPerformance(cudnnAlgorithmPerformance_t algoPerf,
    cudnnAlgorithmDescriptor_t algoDesc, cudnnStatus_t status, float time, size_t memory)
    """
)
def set_performance(a: Arguments) -> None:
    made_objects.held(a.algoDesc, "algoDesc")
    performance = made_objects.held(a.algoPerf, "algoPerf")
    performance.algorithm, performance.status, performance.time, performance.memory = (
        a.algoDesc.value,
        int(a.status),
        a.time,
        a.memory,
    )


@implements(
    """
    cudnnGetAlgorithmPerformance(const cudnnAlgorithmPerformance_t algoPerf,
    cudnnAlgorithmDescriptor_t *algoDesc, cudnnStatus_t *status, float *time, size_t *memory)
    """
)
def get_performance(a: Arguments) -> None:
    performance = made_objects.held(a.algoPerf, "algoPerf")
    status = raw.cudnnStatus_t(performance.status)
    a.put(
        algoDesc=performance.algorithm,
        status=status,
        time=performance.time,
        memory=performance.memory,
    )
