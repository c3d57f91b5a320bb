"""Random arguments of every class for all three layers.

``python -m tools.fuzz misuse --calls 20000 --seed 1`` calls C functions with arguments of the right
Python types (objects, references, arrays of any kind, numbers of any size), the functions and
classes of layer 2 with descriptors, tensors and things of any type, and operations of graphs, which
it expands, or writes as JSON, edits and reads, on the reference device. Errors of this package,
TypeError and ValueError are answers; any other exception is printed.
"""

from __future__ import annotations

import argparse
import ctypes
import inspect
import json
import random
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import cudnn_ctypes as cudnn
from cudnn_ctypes import legacy, raw, use_reference_device
from cudnn_ctypes.errors import ClosedError, CudnnError, SymbolNotFoundError
from cudnn_ctypes.graph import Graph, Tensor
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, storage_type
from cudnn_ctypes.raw.parameter import Parameter
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

    def named(self, p: inspect.Parameter) -> Any:
        """An argument of layer 2, often one that fits its name."""
        name = p.name
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

    def option(self, graph: Graph, results: Sequence[Any], p: inspect.Parameter) -> Any:
        """An argument of layer 3, often one that fits its annotation."""
        annotation = str(p.annotation)
        if not self.one(range(20)):
            return self.thing()
        if "Tensor" in annotation:
            if "Sequence[Tensor" in annotation:
                return [graph.tensor(self.shape((4,))) for _ in range(2)]
            if results and self.one((True, False)):
                return self.one(results)
            return graph.tensor(self.shape((2, 3, 4, 4)))
        for name in annotation.replace(" ", "").split("|"):
            if name.startswith("cudnn"):
                return self.one(list(getattr(raw, name)))
        if "DataType" in annotation:
            return self.one((None, "float32", "float16", "int8"))
        if "slice]" in annotation:
            return [slice(self.one((None, 0, 1, -1)), self.one((None, 1, 2))) for _ in range(4)]
        if any(each in annotation for each in ("Sequence", "Sizes", "Steps")):
            return self.shape((1, 2, 3, 4), 0)
        if "bool" in annotation:
            return self.one((True, False))
        return self.one(("", "name", "y")) if "str" in annotation else self.one((0, 1, 2, -1, 0.5))

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


def _call(
    function: Callable[..., Any],
    parameters: Sequence[inspect.Parameter],
    draw: _Draw,
    value: Callable[[inspect.Parameter], Any],
    *arguments: Any,
) -> Any:
    """Call a function with drawn arguments after those that are given."""
    positional, named = list(arguments), {}
    for p in parameters:
        is_given = p.default is p.empty or not draw.one(range(4))
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or not is_given:
            continue
        if p.kind == p.POSITIONAL_OR_KEYWORD and p.default is p.empty:
            positional.append(value(p))
        else:
            named[p.name] = value(p)
    return function(*positional, **named)


def _layer_3() -> Iterator[tuple[str, Callable[..., Any]]]:
    """What describes graphs: operations and their tensors."""
    for name, found in inspect.getmembers(Graph, inspect.isfunction):
        describes = "describe.operations." in found.__module__ and name != "find_tensor"
        if describes and not name.startswith("_"):
            yield f"Graph.{name}", found


def _describe(
    draw: _Draw, operations: Sequence[tuple[str, Callable[..., Any], list[inspect.Parameter]]]
) -> None:
    """Describe a graph and expand it, or what becomes of its JSON when it is edited."""
    graph, results = Graph(io_data_type=draw.one(("float16", "float32", "int8"))), []
    for _ in range(draw.one((1, 1, 2, 3))):
        _, function, parameters = draw.one(operations)
        made = _call(function, parameters[1:], draw, partial(draw.option, graph, results), graph)
        for each in made if isinstance(made, tuple) else (made,):
            if isinstance(each, Tensor):
                results.append(each.set_output() if draw.one(range(5)) else each)
    if draw.one((True, False)):
        graph.expansion("H200")
        return
    text = json.loads(graph.to_json())
    whole, key = draw.one(list(_places(text)))
    whole[key] = draw.one((None, True, -1, 1 << 70, 0.5, "text", [], [[1]], {}, [None], {"a": 1}))
    Graph.from_json(json.dumps(text)).expansion("H200")


def _places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Every element of nested containers, as its container and its key."""
    for key in part if isinstance(part, dict) else range(len(part)):
        yield part, key
        if isinstance(part[key], (dict, list)):
            yield from _places(part[key])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz misuse", description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    use_reference_device()
    draw = _Draw(options.seed)
    functions = [name for name in raw.FUNCTIONS if name not in _NOT_CALLED]
    layer_2, layer_3 = (
        [
            (name, found, list(inspect.signature(found).parameters.values()))
            for name, found in layer()
        ]
        for layer in (_layer_2, _layer_3)
    )
    counts: Counter[str] = Counter()
    for number in range(options.calls):
        name = ""
        try:
            if number % 8 == 7:
                name = "a graph"
                _describe(draw, layer_3)
            elif number % 2:
                name, found, parameters = draw.one(layer_2)
                made = _call(found, parameters, draw, draw.named)
                if isinstance(made, Closing):
                    draw.kept = [*draw.kept[-100:], made]
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
