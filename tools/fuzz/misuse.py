"""Random arguments of every class for the functions of layer 1 and for layer 2.

``python -m tools.fuzz misuse --calls 20000 --seed 1`` calls C functions with arguments of the right
Python types (objects, references, arrays of any kind, numbers of any size), and the functions and
classes of layer 2 with descriptors, tensors and things of any type, on the reference device.
Errors of this package, TypeError and ValueError are answers; any other exception is printed.
"""

from __future__ import annotations

import argparse
import ctypes
import inspect
import random
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import legacy, raw, use_reference_device
from cudnn_ctypes.errors import ClosedError, CudnnError, SymbolNotFoundError
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, storage_type
from cudnn_ctypes.raw.function import Parameter
from cudnn_ctypes.resource import Closing

from .nulls import Operands

__all__ = ["main"]

_ANSWERS = (CudnnError, SymbolNotFoundError, ClosedError, MemoryError)
_ANSWERS += (TypeError, ValueError, NotImplementedError)
_NOT_CALLED = ("cudnnSetCallback", "cudnnGetCallback", "cudnnDestroy")
_FRACTIONS = (raw.CUDNN_ATTR_RESAMPLE_STRIDES, raw.CUDNN_TYPE_FRACTION)
_NUMBERS = (*(1, 2, 3, 4) * 6, 0, 0, 5, 8, -1, 64, 1 << 31, 1 << 40, -(1 << 31))


class _Draw:
    """Draws arguments."""

    def __init__(self, seed: int) -> None:
        self.one = random.Random(seed).choice
        self.operands = [Operands(is_set=False), Operands(is_set=True)]
        self.handle = cudnn.Handle()
        self.blocks = [cudnn.DeviceBuffer(1 << 16) for _ in range(3)]
        self.kept: list[Any] = []  # objects of layer 2 that calls made

    def shape(self, ranks: Sequence[int], least: int = 1) -> tuple[int, ...]:
        return tuple(self.one((least, 1, 2, 3, 4)) for _ in range(self.one(ranks)))

    def tensor(self) -> Any:
        types = ("float32", "float32", "float16", "float64", "int8", "bfloat16")
        return cudnn.DeviceTensor.full(self.shape((0, 1, 2, 3, 4, 4, 5), 0), 1, self.one(types))

    def descriptor(self) -> Any:
        closed = cudnn.ConvolutionDescriptor(1, 2)
        closed.close()
        return self.one(
            (
                cudnn.TensorDescriptor,
                cudnn.FilterDescriptor,
                cudnn.ConvolutionDescriptor,
                lambda: closed,
                lambda: cudnn.ConvolutionDescriptor(1, self.one((1, 2))),
                lambda: cudnn.FilterDescriptor(self.shape((3, 4, 4, 5))),
                lambda: cudnn.TensorDescriptor(self.shape((2, 3, 4, 4, 5))),
                lambda: cudnn.PoolingDescriptor(2),
            )
        )()

    def thing(self) -> Any:
        return self.one(
            [
                *(None, 0, 1, -1, 3.5, float("nan"), 1 << 40, True, 1j, "text", "relu", "NHWC"),
                *(b"x", [], [1], (1, 2), [None], {}, object(), int, self.handle, np.ones((2, 3))),
                *(np.array(1), np.int64(2), Fraction(1, 2), raw.CUDNN_DATA_FLOAT),
                raw.cudnnTensorDescriptor_t(),
            ]
        )

    def named(self, name: str) -> Any:
        """An argument of layer 2, often one that fits its name."""
        if not self.one(range(5)):
            return self.thing()
        if name == "handle":
            return self.handle
        fitting = [k for k in self.kept if name.replace("_", "") in type(k).__name__.lower()]
        if fitting and self.one((True, False)):
            return self.one(fitting)
        if "desc" in name or name in ("conv", "activation", "pooling"):
            return self.descriptor()
        if name in ("alpha", "beta", "epsilon", "stride", "padding", "dilation", "groups"):
            return self.one((0, 1, 1, 2, 0.5))
        return self.shape((0, 1, 2, 4, 4), 0) if name.endswith("shape") else self.tensor()

    def typed(self, p: Parameter) -> Any:
        """An argument of layer 1 of the right Python type."""
        base, kind = p.type.base, p.type.kind
        if kind != "value" and not self.one(range(8)):
            return None
        if kind == "device":
            block = self.one(self.blocks)
            return self.one((block, block, block.ptr, ctypes.c_void_p(block.ptr), self.tensor()))
        if kind == "array":
            numbers = [self.one(_NUMBERS) for _ in range(self.one((0, 1, 2, 4, 4, 5, 8)))]
            if p.direction != "in":
                return (storage_type(base) * len(numbers))()
            return self.one((numbers, tuple(numbers), np.array(numbers)))
        if kind == "scalar" and p.direction == "in":
            return self.one((1.0, 0, ctypes.c_float(1), ctypes.c_double(0.5), float("nan")))
        if kind == "value" and isinstance(base, type):
            if base is raw.cudnnHandle_t:
                return self.handle
            if issubclass(base, CudnnEnum):
                return self.one((*base, base(99)))
            if base is raw.cudnnTensorDescriptor_t and self.one((True, False)):
                return cudnn.TensorDescriptor(self.shape((2, 3, 4, 4, 5)))
            if base in (ctypes.c_int, ctypes.c_int64, ctypes.c_uint):
                return self.one(_NUMBERS)
        made = self.one(self.operands).plausible(p)
        return ctypes.byref(made) if kind == "pointer" and self.one((True, False)) else made


def _layer_2() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions, classes that users make and close, and their ``of``."""
    for name in legacy.__all__:
        found = getattr(legacy, name)
        if inspect.isclass(found) and issubclass(found, Closing) and name != "BoundOperation":
            yield name, found
            if hasattr(found, "of"):
                yield f"{name}.of", found.of
        elif inspect.isroutine(found):
            yield name, found


def _call(draw: _Draw, function: Callable[..., Any], signature: inspect.Signature) -> None:
    positional, named = [], {}
    for p in signature.parameters.values():
        is_given = p.default is p.empty or not draw.one(range(3))
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or not is_given:
            continue
        if p.kind == p.POSITIONAL_OR_KEYWORD and p.default is p.empty:
            positional.append(draw.named(p.name))
        else:
            named[p.name] = draw.named(p.name)
    made = function(*positional, **named)
    if isinstance(made, Closing):
        draw.kept = [*draw.kept[-100:], made]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz misuse", description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    use_reference_device()
    draw = _Draw(options.seed)
    functions = [name for name in raw.FUNCTIONS if name not in _NOT_CALLED]
    layer_2 = [(name, found, inspect.signature(found)) for name, found in _layer_2()]
    counts: Counter[str] = Counter()
    for number in range(options.calls):
        name = ""
        try:
            if number % 2:
                name, found, signature = draw.one(layer_2)
                _call(draw, found, signature)
            elif number % 50:
                name = draw.one(functions)
                function = raw.FUNCTIONS[name]
                given = [draw.typed(p) for p in function.parameters]
                draw.one((function, function.unchecked))(*given)
            else:
                name, resample = "cudnnBackendSetAttribute", raw.cudnnBackendDescriptor_t()
                raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_RESAMPLE_DESCRIPTOR, resample)
                fraction = raw.cudnnFraction_t(1, draw.one(_NUMBERS[20:]))
                raw.cudnnBackendSetAttribute(resample, *_FRACTIONS, 1, fraction)
            counts["success"] += 1
        except _ANSWERS as error:
            counts[type(error).__name__] += 1
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{name}: {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
            counts["wrong"] += 1
            print(key, flush=True)
    print(f"{options.calls} calls:", ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    return int(counts["wrong"] > 0)
