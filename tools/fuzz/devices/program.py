"""A case as data: descriptors, operands in memory, and calls of C functions one after the other.

Arguments stand under their names in C. What a value means follows from the parameter's declaration:
the name of a descriptor, of an operand or of a space, a number, or an enumerator's name.
"""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import raw
from cudnn_ctypes.dtypes import numpy_dtype, vector_length

from .draw import Draw

__all__ = ["Described", "Operand", "Program", "data_type", "packed", "spread_of"]

Ints = tuple[int, ...]


def data_type(name: str) -> raw.cudnnDataType_t:
    """The enumerator of a short name."""
    value: raw.cudnnDataType_t = getattr(raw, f"CUDNN_DATA_{name}")
    return value


def packed(dims: Sequence[int], order: Sequence[int] | None = None) -> Ints:
    """Strides without gaps; `order` lists the dimensions from the outermost to the innermost."""
    strides, step = [0] * len(dims), 1
    for axis in reversed(order or range(len(dims))):
        strides[axis] = step
        step *= dims[axis]
    return tuple(strides)


@dataclass
class Described:
    """A descriptor: its kind ("Tensor"), and the calls that set it, without the descriptor.

    A tensor or filter has its data type, dims and strides beside, from which the calls follow.
    """

    kind: str
    setters: list[tuple[str, list[Any]]] = field(default_factory=list)
    data_type: str = ""
    dims: Ints = ()
    strides: Ints = ()  # of a tensor
    format: str = ""  # of a filter, or of a tensor in vectors
    created_with: list[str] = field(default_factory=list)  # enumerators

    def calls(self) -> list[tuple[str, list[Any]]]:
        """The functions that set it, with their further arguments."""
        dims = list(self.dims)
        if self.kind == "Tensor" and self.dims:
            kind = data_type(self.data_type)
            if self.format:
                code = getattr(raw, f"CUDNN_TENSOR_{self.format}")
                return [("cudnnSetTensorNdDescriptorEx", [code, kind, len(dims), dims])]
            return [("cudnnSetTensorNdDescriptor", [kind, len(dims), dims, list(self.strides)])]
        if self.kind == "Filter" and self.dims:
            code = getattr(raw, f"CUDNN_TENSOR_{self.format}")
            kind = data_type(self.data_type)
            return [("cudnnSetFilterNdDescriptor", [kind, code, len(dims), dims])]
        return self.setters

    @property
    def elements(self) -> tuple[np.dtype[Any], Ints, Ints]:
        """The dtype, dims and strides of the numbers in memory."""
        kind = data_type(self.data_type)
        dtype = numpy_dtype(kind)
        if self.format == "NCHW_VECT_C" or vector_length(kind) > 1:
            return dtype, (int(np.prod(self.dims)),), (1,)
        if self.kind == "Filter":
            order = range(len(self.dims))
            if self.format == "NHWC":
                order = [0, *order[2:], 1]  # type: ignore[assignment]
            return dtype, self.dims, packed(self.dims, list(order))
        return dtype, self.dims, self.strides


@dataclass
class Operand:
    """Memory of a case.

    Attributes
    ----------
    of : str
        The descriptor that says what is in it, or "" with `elements`.
    content : str
        How the numbers are made, see `numbers_of`; "poison" leaves NaN, or -1.
    out : bool
        Whether calls may write it.
    shift : int
        By how many elements it lies beside a boundary of 256 bytes.
    free : str
        Why the numbers need not be equal, "" if they must.
    magnitude : float
        Of numbers whose sum it is, and may be far smaller than; 0 if it is not.
    """

    name: str
    of: str = ""
    content: str = "normal"
    out: bool = False
    shift: int = 0
    free: str = ""
    magnitude: float = 0.0
    elements: tuple[Any, Ints, Ints] | None = None
    values: Any = None


class Program:
    """What a family makes of a draw.

    Attributes
    ----------
    unit : float
        The roundoff of what is computed in.
    terms : int
        How many numbers are added into one at most.
    magnitude : float
        Of numbers whose difference may be a result; 0 if no result is smaller than its parts.
    """

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.descriptors: dict[str, Described] = {}
        self.operands: dict[str, Operand] = {}
        self.spaces: dict[str, int | str] = {}  # sizes, or the out value that says them
        self.steps: list[tuple[str, dict[str, Any]]] = []
        self.unit, self.terms, self.magnitude = 2.0**-24, 16, 0.0
        self.exempt: dict[str, str] = {}  # out values that may differ, with reasons
        self.alignment = 1  # bytes: memory begins at multiples of it
        self.statuses_compared = True  # whether both devices must refuse the same

    # --- descriptors and memory ---

    def tensor(
        self, name: str, kind: str, dims: Sequence[int], strides: Sequence[int] | None = None
    ) -> str:
        """A tensor descriptor; without strides packed, or in vectors if the type has vectors."""
        vectors = "x" in kind
        self.descriptors[name] = Described(
            "Tensor",
            data_type=kind,
            dims=tuple(dims),
            strides=() if vectors else tuple(strides or packed(dims)),
            format="NCHW_VECT_C" if vectors else "",
        )
        return name

    def filter(self, name: str, kind: str, dims: Sequence[int], layout: str = "NCHW") -> str:
        """A filter descriptor."""
        self.descriptors[name] = Described(
            "Filter", data_type=kind, dims=tuple(dims), format=layout
        )
        return name

    def descriptor(self, name: str, kind: str, function: str = "", *args: Any) -> str:
        """Another descriptor, set by one more call each time."""
        described = self.descriptors.setdefault(name, Described(kind))
        if function:
            described.setters.append((function, list(args)))
        return name

    def operand(self, name: str, of: str = "", **about: Any) -> str:
        """Memory for what the descriptor `of` describes, by default that of the same name."""
        self.operands[name] = Operand(name, of or name, **about)
        return name

    def array(
        self, name: str, kind: str, dims: Sequence[int], strides: Sequence[int] = (), **about: Any
    ) -> str:
        """Memory without a descriptor."""
        elements = (numpy_dtype(data_type(kind)), tuple(dims), tuple(strides) or packed(dims))
        self.operands[name] = Operand(name, elements=elements, **about)
        return name

    def space(self, name: str, size: int | str) -> str:
        """Scratch memory: its size, or the out value of an earlier step, "0.sizeInBytes"."""
        self.spaces[name] = size
        return name

    def call(self, function: str, **arguments: Any) -> int:
        """Add a step; its number."""
        self.steps.append((function, arguments))
        return len(self.steps) - 1

    def run(self, machine: Any, **how: Any) -> Any:
        """Run on a device."""
        return machine.run(self, **how)

    def elements(self, name: str) -> tuple[np.dtype[Any], Ints, Ints]:
        """The dtype, dims and strides of an operand."""
        operand = self.operands[name]
        return operand.elements or self.descriptors[operand.of].elements

    # --- what may be wrong ---

    def finish(self, wrong: float = 0.1) -> Program:
        """Draw what may be wrong about the last call; the program itself."""
        draw = self.draw
        arguments = self.steps[-1][1]
        kinds = ("no", "dims", "data type", "enumerator", "memory NULL", "descriptor NULL", "rank")
        odds = (1 - wrong, *(wrong * share for share in (0.3, 0.25, 0.15, 0.05, 0.15, 0.1)))
        kind = draw.choice("wrong", kinds, odds)
        tensors = sorted(
            {n for n in arguments.values() if isinstance(n, str) and n in self.descriptors}
            & {n for n, each in self.descriptors.items() if each.dims}
        )
        if kind in ("dims", "data type", "rank") and tensors:
            name = draw.choice("wrong operand", tensors)
            self.descriptors[name] = self._distorted(self.descriptors[name], kind)
            if kind == "data type":  # a computation of mixed types is in float
                self.unit = max(self.unit, 2.0**-24)
        elif kind == "enumerator":
            self._replace(77, "value", lambda value: value not in self.descriptors)
        elif kind == "memory NULL":
            self._replace(None, "device", lambda value: True)
        elif kind == "descriptor NULL":
            self._replace(None, "value", lambda value: value in self.descriptors)
        return self

    def _replace(self, value: Any, kind: str, fits: Callable[[str], bool]) -> None:
        """Put a wrong value in the place of a text among the last call's arguments."""
        function, arguments = self.steps[-1]
        names = [
            p.name
            for p in raw.FUNCTIONS[function].parameters
            if p.type.kind == kind
            and isinstance(arguments.get(p.name), str)
            and p.type.base is not ctypes.c_size_t
            and fits(arguments[p.name])
        ]
        if names:
            arguments[self.draw.choice("wrong argument", names)] = value

    def _distorted(self, tensor: Described, kind: str) -> Described:
        draw = self.draw
        if kind == "data type":
            others = ("FLOAT", "HALF", "DOUBLE", "BFLOAT16", "INT8", "INT32", "UINT8", "INT64")
            if tensor.format == "NCHW_VECT_C":
                return tensor
            return replace(tensor, data_type=draw.choice("wrong type", others))
        dims = list(tensor.dims)
        if kind == "dims":
            axis = draw.integer("wrong axis", 0, len(dims) - 1)
            dims[axis] = max(1, dims[axis] + draw.choice("wrong by", (1, -1)))
        elif len(dims) < 5 and tensor.format != "NCHW_VECT_C":
            dims.append(1)
        order = sorted(range(len(tensor.strides)), key=lambda axis: -tensor.strides[axis])
        order += range(len(order), len(dims))
        strides = packed(dims, order) if tensor.strides else ()
        return replace(tensor, dims=tuple(dims), strides=strides)


def numbers_of(operand: Operand, elements: Any, seed: int, wobble: int = 0, unit: float = 0) -> Any:
    """The numbers of an operand, None for poison.

    With `wobble` they are off by up to `unit` of each, otherwise for each `wobble`.
    """
    dtype, dims, _ = elements
    if operand.values is not None:
        return np.asarray(operand.values, np.float64).reshape(dims).astype(dtype)
    name, *about = operand.content.split(":")
    if name == "poison":
        return None
    rng = np.random.default_rng([seed, zlib.crc32(operand.name.encode())])
    numbers = _CONTENTS[name](rng, dims, *map(float, about))
    if dtype.kind in "iu" and name not in ("integers",):
        numbers = np.clip(np.rint(numbers * 4), 0 if dtype.kind == "u" else -128, 127)
    numbers = numbers.astype(dtype)
    if wobble and dtype.kind not in "iu":
        noise = np.random.default_rng([seed, zlib.crc32(operand.name.encode()), wobble])
        wide = numbers.astype(np.float64)
        with np.errstate(all="ignore"):
            numbers = (wide * (1 + unit * noise.choice([-1.0, 1.0], dims))).astype(dtype)
    return numbers


def _specials(rng: Any, dims: Ints) -> NDArray[Any]:
    numbers = rng.standard_normal(dims)
    odd = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-7, 65504.0, -1.0]
    where = rng.random(dims) < 0.06
    return np.where(where, rng.choice(odd, dims), numbers)


def _distinct(rng: Any, dims: Ints) -> NDArray[Any]:
    count = int(np.prod(dims))
    return (rng.permutation(count).reshape(dims) - count / 2 + 0.25) / 16


_CONTENTS = {
    "normal": lambda rng, dims: rng.standard_normal(dims),
    "specials": _specials,
    "small": lambda rng, dims: rng.integers(-2, 3, dims) / 2,
    "large": lambda rng, dims: rng.standard_normal(dims) * 100,
    "tiny": lambda rng, dims: rng.standard_normal(dims) * 2.0**-14,
    "zeros": lambda rng, dims: np.zeros(dims),
    "constant": lambda rng, dims: np.full(dims, 1.5),
    "distinct": _distinct,
    "positive": lambda rng, dims: 0.5 + rng.random(dims),
    "uniform": lambda rng, dims, low, high: rng.uniform(low, high, dims),
    "integers": lambda rng, dims, low, high: rng.integers(int(low), int(high) + 1, dims),
}


def spread_of(dtype: np.dtype[Any], strides: Ints, memory: NDArray[np.uint8], dims: Ints) -> Any:
    """The elements of a tensor in the bytes that begin at its first one, as a view."""
    size = dtype.itemsize
    span = (sum((n - 1) * s for n, s in zip(dims, strides, strict=True)) + 1) * size
    flat = memory[:span].view(dtype)
    return np.lib.stride_tricks.as_strided(flat, dims, [s * size for s in strides])
