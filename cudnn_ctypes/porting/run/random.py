"""cuRAND on the reference device: NumPy's numbers, which are others than NVIDIA's."""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import replace
from typing import Annotated, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...errors import CudnnWarning
from ...raw import host_blocks
from ...raw.ctypes_support import CudnnEnum, OpaquePointer
from ...runtime.cuda import CudaError
from ..cublas.arguments import Elements
from ..cudart.function import MEMORY, CheckedFunction, Int, Kind, OutInt, Size, Stream, out, store


class _curandGenerator_st(ctypes.Structure):
    pass


class curandGenerator_t(OpaquePointer):
    """A generator; ``curandCreateGenerator`` fills it."""

    _type_ = _curandGenerator_st


class curandStatus_t(CudnnEnum):
    """The status of a function of cuRAND."""

    CURAND_STATUS_SUCCESS = 0
    CURAND_STATUS_NOT_INITIALIZED = 101
    CURAND_STATUS_OUT_OF_RANGE = 104
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105


class _CurandFunction(CheckedFunction[..., curandStatus_t]):
    success = curandStatus_t.CURAND_STATUS_SUCCESS


def _fail(function: str, status: curandStatus_t, reason: str) -> NoReturn:
    raise CudaError(function, status, f"{status.name}: {reason}")


class _State:
    """The state of a generator."""

    def __init__(self) -> None:
        self.seed, self.offset = 0, 0
        self.begin()

    def begin(self) -> None:
        """Begin the numbers of the seed, at the offset."""
        self.numbers = np.random.default_rng((self.seed, self.offset))


_states: dict[int, _State] = {}
# Addresses of generators; no memory has them.
_addresses = itertools.count(0x7FFF_2000_0000_0010, 16)


def _take_generator(function: str, name: str, handle: Any) -> int:
    if handle.value not in _states:
        status = curandStatus_t.CURAND_STATUS_NOT_INITIALIZED
        _fail(function, status, f"{name}: it was not created, or is destroyed")
    return int(handle.value)


Generator = Annotated[Any, Kind(ctypes.c_void_p, _take_generator, handle=curandGenerator_t)]
Float = Annotated[float, replace(MEMORY, ctype=ctypes.c_float)]
Double = Annotated[float, replace(MEMORY, ctype=ctypes.c_double)]
Seed = Annotated[int, replace(MEMORY, ctype=ctypes.c_ulong)]


@_CurandFunction
def curandCreateGenerator(generator: Annotated[Any, out(curandGenerator_t)], rng_type: Int) -> None:
    """Create a generator, of any type."""
    text = "curandCreateGenerator: the numbers are NumPy's, others than cuRAND's"
    host_blocks.warn(text, CudnnWarning)
    address = next(_addresses)
    _states[address] = _State()
    store(generator, address, curandGenerator_t, "generator")


@_CurandFunction
def curandDestroyGenerator(generator: Generator) -> None:
    """Destroy a generator."""
    del _states[generator]


@_CurandFunction
def curandSetPseudoRandomGeneratorSeed(generator: Generator, seed: Seed) -> None:
    """Begin the numbers of a seed."""
    _states[generator].seed = seed
    _states[generator].begin()


@_CurandFunction
def curandSetGeneratorOffset(generator: Generator, offset: Seed) -> None:
    """Begin other numbers of the seed."""
    _states[generator].offset = offset
    _states[generator].begin()


@_CurandFunction
def curandSetStream(generator: Generator, stream: Stream) -> None:
    """Set the stream; a call's work is complete when it returns."""


@_CurandFunction
def curandSetGeneratorOrdering(generator: Generator, order: Int) -> None:
    """Set the order of the numbers, which are random in any."""


@_CurandFunction
def curandGenerateSeeds(generator: Generator) -> None:
    """Prepare a generator."""


@_CurandFunction
def curandGetVersion(version: OutInt) -> None:
    """Fill a ``c_int`` with 0: the version of none of NVIDIA's libraries."""
    store(version, 0, ctypes.c_int, "version")


@_CurandFunction
def curandGenerate(generator: Generator, outputPtr: Any, num: Size) -> None:
    """Fill memory with whole numbers of 32 bits."""
    values = _states[generator].numbers.integers(1 << 32, size=num, dtype=np.uint32)
    _fill("curandGenerate", outputPtr, values.view(np.int32))


def _uniform(name: str, dtype: Any) -> _CurandFunction:
    """A function that fills memory with numbers above 0, up to 1."""

    def body(generator: Generator, outputPtr: Any, num: Size) -> None:
        _fill(name, outputPtr, 1 - _states[generator].numbers.random(num, dtype))

    body.__name__ = name
    return _CurandFunction(body)


def _normal(name: str, dtype: Any, number: Any, change: Any = np.asarray) -> _CurandFunction:
    """A function that fills memory with what `change` makes of normal numbers."""

    def body(generator: Generator, outputPtr: Any, n: Size, mean: Any, stddev: Any) -> None:
        if n % 2:
            status = curandStatus_t.CURAND_STATUS_LENGTH_NOT_MULTIPLE
            _fail(name, status, f"n is {n}, and normal numbers come in pairs")
        numbers = _states[generator].numbers.standard_normal(n, dtype)
        _fill(name, outputPtr, change(dtype(mean) + dtype(stddev) * numbers))

    body.__annotations__ |= {"mean": number, "stddev": number}
    body.__name__ = name
    return _CurandFunction(body)


curandGenerateUniform = _uniform("curandGenerateUniform", np.float32)
curandGenerateUniformDouble = _uniform("curandGenerateUniformDouble", np.float64)
curandGenerateNormal = _normal("curandGenerateNormal", np.float32, Float)
curandGenerateNormalDouble = _normal("curandGenerateNormalDouble", np.float64, Double)
curandGenerateLogNormal = _normal("curandGenerateLogNormal", np.float32, Float, np.exp)
curandGenerateLogNormalDouble = _normal("curandGenerateLogNormalDouble", np.float64, Double, np.exp)


def _fill(function: str, memory: Any, values: NDArray[Any]) -> None:
    from ...reference.device.registry import Refused

    elements = Elements(values.dtype)
    try:
        if values.size:
            elements.vector(memory.value or 0, values.size, 1, "outputPtr", "write")[...] = values
    except Refused as error:
        _fail(function, curandStatus_t.CURAND_STATUS_OUT_OF_RANGE, error.reason)
