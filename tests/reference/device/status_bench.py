"""What calls that ask for a status are made of: descriptors, memory, and families of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from ctypes import addressof, c_double, c_float, c_void_p
from typing import Any

from cudnn_ctypes import DeviceBuffer, Handle, raw

TYPES = ("FLOAT", "DOUBLE", "HALF", "BFLOAT16", "INT8", "INT32", "UINT8", "INT8x4", "INT8x32")
PLAIN = TYPES[:7]
SHAPE = (2, 32, 4, 4)
ROOM = 1 << 20  # bytes behind every operand
FACTORS = {"alpha": 1, "beta": 0, "two": 2}

Call = Callable[[], str]


def packed(shape: tuple[int, ...], gap: int = 0) -> list[int]:
    """Strides of NCHW, with `gap` unused elements after each row."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size + gap)
    return strides


class Bench(ExitStack):
    """Descriptors and operands for the calls of one handle."""

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self.handle = handle
        self.descriptors: dict[tuple[Any, ...], Any] = {}
        self.buffers: dict[str, DeviceBuffer] = {}

    def operand(self, name: str) -> DeviceBuffer:
        if name not in self.buffers:
            buffer = self.enter_context(DeviceBuffer(ROOM))
            buffer.fill(0)
            self.buffers[name] = buffer
        return self.buffers[name]

    def made(self, kind: str, setter: str, *values: Any) -> Any:
        """A descriptor, set once for the same values."""
        key = (kind, setter, *map(str, values))
        if key not in self.descriptors:
            descriptor = getattr(raw, f"cudnn{kind}Descriptor_t")()
            getattr(raw, f"cudnnCreate{kind}Descriptor")(descriptor)
            self.callback(getattr(raw, f"cudnnDestroy{kind}Descriptor"), descriptor)
            getattr(raw, setter)(descriptor, *values)
            self.descriptors[key] = descriptor
        return self.descriptors[key]

    def tensor(
        self, shape: tuple[int, ...] = SHAPE, data_type: str = "FLOAT", layout: str = "NCHW"
    ) -> Any:
        kind = getattr(raw, f"CUDNN_DATA_{data_type}")
        if data_type.startswith("INT8x"):
            layout = "NCHW_VECT_C"
        if layout in ("NHWC", "NCHW_VECT_C"):
            tensor_format = getattr(raw, f"CUDNN_TENSOR_{layout}")
            return self.made(
                "Tensor", "cudnnSetTensorNdDescriptorEx", tensor_format, kind, len(shape), shape
            )
        strides = packed(shape, 1 if layout == "gaps" else 0)
        if layout == "channels last":
            spatial = [step * shape[1] for step in packed(shape[2:])] if len(shape) > 2 else []
            strides = [strides[0], 1, *spatial]
        return self.made("Tensor", "cudnnSetTensorNdDescriptor", kind, len(shape), shape, strides)

    def status(self, function: str, *arguments: Any) -> str:
        status = getattr(raw, function).unchecked(self.handle, *arguments)
        self.handle.synchronize()
        return str(status.name).removeprefix("CUDNN_STATUS_")


_scalars: list[Any] = []


def factor(value: float, data_type: str) -> Any:
    number = (c_double if data_type == "DOUBLE" else c_float)(value)
    _scalars.append(number)  # an address: what it holds is cuDNN's affair here
    return c_void_p(addressof(number))


class Family:
    """A function whose tensors all look alike.

    Parameters
    ----------
    tensors : str
        Their names, in C's order.
    arguments : str
        After the handle: names of tensors and of their descriptors, "alpha", "beta" and "two" for
        factors of 1, 0 and 2, "how" for the function's own descriptor, numbers, "NULL", and other
        names for more memory.
    how : callable, optional
        Makes that descriptor, for a data type.
    """

    def __init__(
        self,
        function: str,
        tensors: str,
        arguments: str,
        how: Callable[[Bench, str], Any] | None = None,
        *,
        variant: str = "",
        shapes: Callable[[str, tuple[int, ...]], tuple[int, ...]] = lambda _, shape: shape,
    ) -> None:
        self.function = function
        self.tensors = tensors.split()
        self.arguments = arguments.split()
        self.how = how
        self.name = f"{function} {variant}".strip()
        self.shapes = shapes

    def call(
        self,
        bench: Bench,
        *,
        shape: tuple[int, ...] = SHAPE,
        data_type: str = "FLOAT",
        layout: str = "NCHW",
        null: str = "",
        shared: str = "",
        **changed: dict[str, Any],
    ) -> str:
        """`changed` holds the shape, data type or layout of single tensors."""
        given: dict[str, Any] = {}
        for name in self.tensors:
            how = {"shape": self.shapes(name, shape), "data_type": data_type, "layout": layout}
            given[f"{name}Desc"] = bench.tensor(**{**how, **changed.get(name, {})})
            given[name] = None if name == null else bench.operand(name)
        if shared:
            given[self.tensors[-1]] = given[shared]
        arguments = (self._argument(bench, word, given, data_type) for word in self.arguments)
        return bench.status(self.function, *arguments)

    def _argument(self, bench: Bench, word: str, given: dict[str, Any], data_type: str) -> Any:
        if word in given:
            return given[word]
        if word in FACTORS:
            return factor(FACTORS[word], data_type)
        if word == "how":
            assert self.how is not None
            return self.how(bench, data_type)
        if word.isdecimal():
            return int(word)
        return None if word == "NULL" else bench.operand(word)

    def calls(self, bench: Bench) -> Iterator[tuple[str, Call]]:
        def named(about: str, **how: Any) -> tuple[str, Call]:
            return f"{self.name}: {about}", lambda: self.call(bench, **how)

        for data_type in TYPES:
            yield named(data_type, data_type=data_type)
            if data_type in PLAIN:
                yield named(f"{data_type} NHWC", data_type=data_type, layout="NHWC")
        for rank in range(2, 9):
            shape = (2, 3, *(4 - rank // 4,) * (rank - 2))
            yield named(f"{rank} dimensions", shape=shape)
            yield named(f"{rank} dimensions with gaps", shape=shape, layout="gaps")
            if not (rank == 3 and "LRN" in self.name):  # a kernel fails
                yield named(
                    f"{rank} dimensions, channels last", shape=shape, layout="channels last"
                )
        for layout in ("NHWC", "gaps"):
            yield named(f"all {layout}", layout=layout)
            for name in self.tensors if len(self.tensors) > 1 else ():
                yield named(f"{name} {layout}", **{name: {"layout": layout}})
        for name in self.tensors[1:]:
            other = self.shapes(name, SHAPE)
            for axis in range(4):
                less = tuple(n - (i == axis) for i, n in enumerate(other))
                yield named(f"{name} smaller in {axis}", **{name: {"shape": less}})
            yield named(f"{name} HALF", **{name: {"data_type": "HALF"}})
            yield named(f"{name} of 5 dimensions", **{name: {"shape": (*other, 1)}})
        for name in self.tensors[:-1]:
            yield named(f"in place of {name}", shared=name)
            yield named(f"in place of {name}, NHWC", shared=name, **{name: {"layout": "NHWC"}})
        for name in self.tensors:
            yield named(f"{name} NULL", null=name)
