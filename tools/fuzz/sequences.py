"""Random sequences of calls, as plain data: the same for the same seed, to be stored and replayed.

An argument is a triple: the class it is counted under ("right" or what is odd about it), its form,
and the form's data. `arguments.Program` makes objects of forms.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from ctypes import c_double, c_float
from dataclasses import dataclass
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, OpaquePointer
from cudnn_ctypes.raw.parameter import Parameter

__all__ = ["CANCELLED", "SLOTS", "Call", "Sequences", "kinds"]

Argument = tuple[str, str, Any]

SLOTS = 4  # variables of each kind of descriptor
BLOCK = 1 << 16  # bytes of each block of device memory
CANCELLED = "cudnnSetCallback"  # its callback would be called in the child's last moments

_EXTREME = (0, -1, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 15, 46341, 1 << 16, 1 << 20, 1 << 30)
_EXTREME_SIZES = (0, 1, 1 << 31, 1 << 32, 1 << 40, 1 << 63, (1 << 64) - 1, 1 << 64, -1)
_EXTREME_REALS = (0.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e308, -1e-308)


@dataclass(frozen=True)
class Call:
    """One call, or with a name in lower case an assignment between variables.

    Attributes
    ----------
    sequence, position : int
        Where it stands; each sequence has a process of its own.
    last : bool
        Whether it ends its sequence.
    """

    sequence: int
    position: int
    last: bool
    function: str
    arguments: tuple[Argument, ...]
    checked: bool = True


def kinds() -> list[type[OpaquePointer]]:
    """The kinds of descriptor, the handle's among them."""
    found: dict[type[OpaquePointer], None] = {}
    for function in raw.FUNCTIONS.values():
        for p in function.parameters:
            base = p.type.base
            if isinstance(base, type) and issubclass(base, OpaquePointer):
                found[base] = None
    return [kind for kind in found if kind not in (raw.cudaStream_t, raw.cudaGraph_t)]


class Sequences(Sequence[Call]):
    """`count` calls in sequences of `length`.

    Parameters
    ----------
    seed : int
    addresses : bool
        Whether made-up addresses are given as device memory: the reference device refuses them.
    functions : sequence of str, optional
        To call these alone, beside the functions that create and set descriptors.
    """

    def __init__(
        self,
        count: int,
        *,
        seed: int,
        length: int = 400,
        addresses: bool = False,
        functions: Sequence[str] = (),
    ) -> None:
        self._count, self._seed, self._length = count, seed, length
        self._addresses, self._functions = addresses, functions

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._from(index.start)
        return self.sequence(index // self._length)[index % self._length]

    def _from(self, start: int) -> Iterator[Call]:
        number, skipped = divmod(start, self._length)
        while number * self._length < self._count:
            yield from self.sequence(number)[skipped:]
            number, skipped = number + 1, 0

    def sequence(self, number: int) -> list[Call]:
        """All calls of one sequence."""
        if getattr(self, "_known", None) != number:
            self._known = number
            self._calls = self._made(number)
        return self._calls

    def _made(self, number: int) -> list[Call]:
        rng = random.Random(f"{self._seed}/{number}")
        length = min(self._length, self._count - number * self._length)
        draw = _Draw(rng, self._addresses)
        names = list(self._functions) or [n for n in raw.FUNCTIONS if n != CANCELLED]
        weights = [_weight(name) for name in names]
        steps = draw.beginning()
        while len(steps) < length:
            if rng.random() < 0.06:
                steps.append(draw.assignment())
            else:
                steps.append(draw.call(rng.choices(names, weights)[0]))
        return [
            Call(number, i, i == length - 1, name, arguments, rng.random() < 0.5)
            for i, (name, arguments) in enumerate(steps[:length])
        ]


def _weight(name: str) -> float:
    if "Create" in name:
        return 5
    return 4 if name.startswith("cudnnSet") else 1


class _Draw:
    """Draws functions' arguments."""

    def __init__(self, rng: random.Random, addresses: bool) -> None:
        self._rng = rng
        self._addresses = addresses
        # Sizes that most descriptors of the sequence share, or few calls would go together.
        self._sizes = [rng.choice([1, 2, 3, 4, 6]) for _ in range(8)]
        self._kinds = [kind.__name__ for kind in kinds()]

    def beginning(self) -> list[tuple[str, tuple[Argument, ...]]]:
        """Create most descriptors, and set most of these."""
        steps = []
        for kind in self._kinds:
            stem = kind.removeprefix("cudnn").removesuffix("_t")
            create = f"cudnnCreate{stem}" if kind != "cudnnHandle_t" else "cudnnCreate"
            setters = [
                n
                for n, f in raw.FUNCTIONS.items()
                if n.startswith("cudnnSet")
                and any(
                    p.type.base.__name__ == kind and p.direction != "in" for p in f.parameters[:1]
                )
            ]
            for slot in range(SLOTS - 1 if create in raw.FUNCTIONS else 0):
                if self._rng.random() < 0.9:
                    steps.append(self.call(create, right=True, slot=slot))
                if setters and self._rng.random() < 0.8:
                    setter = self._rng.choice(setters)
                    steps.append(self.call(setter, right=self._rng.random() < 0.9, slot=slot))
        return steps

    def assignment(self) -> tuple[str, tuple[Argument, ...]]:
        """A second object for the same descriptor, or a variable that becomes NULL."""
        kind = self._rng.choice(self._kinds)
        source, target = self._rng.sample(range(SLOTS), 2)
        name = self._rng.choice(["alias", "alias", "copy", "forget"])
        return name, (("right", name, [kind, source, target]),)

    def call(
        self, name: str, *, right: bool = False, slot: int | None = None
    ) -> tuple[str, tuple[Argument, ...]]:
        parameters = raw.FUNCTIONS[name].parameters
        rng = self._rng
        odd: set[int] = set()
        if not right and parameters and rng.random() < 0.6:
            odd = set(
                rng.sample(
                    range(len(parameters)), min(len(parameters), rng.choice([1, 1, 1, 2, 3]))
                )
            )
        numbers: dict[str, int] = {}
        drawn: dict[int, Argument] = {}
        # Numbers first: they are the lengths of arrays.
        order = sorted(range(len(parameters)), key=lambda i: parameters[i].type.kind == "array")
        for i in order:
            p = parameters[i]
            argument = self._odd(p, numbers) if i in odd else self._right(p, numbers)
            if slot is not None and argument[1] == "slot" and i == 0:
                argument = (argument[0], "slot", [argument[2][0], slot])
            if argument[1] in ("value", "boxed") and type(argument[2]) is int:
                numbers[p.name] = argument[2]
            drawn[i] = argument
        return name, tuple(drawn[i] for i in range(len(parameters)))

    # --- arguments that may be right -------------------------------------------------------------

    def _right(self, p: Parameter, numbers: dict[str, int]) -> Argument:
        base, kind, rng = p.type.base, p.type.kind, self._rng
        if kind == "device":
            return "right", "device", [rng.randrange(4), rng.choice([0, 0, 0, 1 << 12])]
        if kind == "scalar":
            if p.direction == "out":
                return "right", "out", [1, 1]
            # FLOAT descriptors, half of all, want floats; DOUBLE ones doubles.
            ctype = rng.choice([c_float, c_float, c_double]).__name__
            return "right", "scalar", [ctype, rng.choice([1.0, 0.0, 0.5])]
        if kind in ("host", "labelled"):
            return "right", "host", self._host()
        if kind == "array":
            length = self._length(p, numbers)
            if p.direction != "in":
                return "right", "out", [length, length]
            return "right", rng.choice(["list", "ctypes", "numpy"]), self._elements(p, length)
        if kind == "pointer":
            if base.__name__ in self._kinds:
                return "right", "slot", [base.__name__, self._slot()]
            if p.direction == "in":
                return "right", "struct", rng.randrange(1 << 30)
            return "right", "out", [1, 1]
        if issubclass(base, CudnnEnum):
            members = list(base)
            few = members[: 3 if rng.random() < 0.5 else None]
            return "right", "enum", [base.__name__, int(rng.choice(few))]
        if base.__name__ in self._kinds:
            return "right", "slot", [base.__name__, self._slot()]
        if issubclass(base, OpaquePointer) or base.__name__ == "cudnnCallback_t":
            return "right", "value", None
        if base in (c_float, c_double):
            return "right", "value", rng.choice([0.0, 0.5, 1.0, 1e-5, 1e-3])
        form = "boxed" if rng.random() < 0.1 else "value"
        return "right", form, self._number(p.name)

    def _number(self, name: str) -> int:
        rng, low = self._rng, name.lower()
        if "size" in low and ("bytes" in low or "space" in low or "weight" in low):
            return BLOCK
        if name == "nbDims":
            return rng.choice([4, 4, 4, 5, 3])
        if name.endswith("Requested") or name == "max_size":
            return rng.choice([2, 4, 4, 8])
        if name == "arrayLength":
            return rng.choice([2, 2, 3])
        if "pad" in low or low in ("reorderbias", "auxflags", "currindex", "attnmode", "mask"):
            return rng.randrange(2)
        if "stride" in low and len(low) > 6 and low[0] in "nchw":
            return rng.choice([1, 2, 6, 36, 120])
        if "dilation" in low or "group" in low or low in ("u", "v", "projsize"):
            return rng.choice([1, 1, 2])
        if rng.random() < 0.7:
            return self._sizes["nchw".find(low) if low in "nchw" else 1 + len(low) % 7]
        return rng.choice([1, 2, 2, 3, 4, 6, 8])

    def _slot(self) -> int:
        """A variable; the last one is seldom created."""
        return self._rng.choices(range(SLOTS), [4, 3, 2, 1])[0]

    def _length(self, p: Parameter, numbers: dict[str, int]) -> int:
        if not isinstance(p.length, str):
            return 4
        try:
            return min(max(int(eval(p.length, {}, dict(numbers))), 0), 64)
        except (NameError, TypeError):
            return 4

    def _elements(self, p: Parameter, length: int) -> list[int]:
        rng, low = self._rng, p.name.lower()
        if low == "axes":
            return rng.sample(range(4), 4)[:length] + [0] * max(length - 4, 0)
        if "pad" in low:
            return [rng.randrange(2) for _ in range(length)]
        if "stride" in low and "filter" not in low:
            return [rng.choice([1, 2, 6, 36, 120]) for _ in range(length)]
        if "dilation" in low or "fold" in low or "filterstride" in low:
            return [rng.choice([1, 1, 2]) for _ in range(length)]
        if rng.random() < 0.7:
            return [*self._sizes, *[1] * length][:length]
        return [rng.choice([1, 2, 2, 3, 4, 6]) for _ in range(length)]

    def _host(self) -> Any:
        rng = self._rng
        if rng.random() < 0.4:
            name = rng.choice(["cudnnBackendDescriptor_t"] * 3 + self._kinds)
            return ["slots", [[name, rng.randrange(SLOTS)] for _ in range(rng.choice([1, 1, 2]))]]
        return ["c_long", [rng.choice([0, 1, 2, 4]) for _ in range(rng.choice([1, 4, 8]))]]

    # --- and others ------------------------------------------------------------------------------

    def _odd(self, p: Parameter, numbers: dict[str, int]) -> Argument:
        base, kind, rng = p.type.base, p.type.kind, self._rng
        draw = rng.random()
        if draw < 0.15:
            return "other type", "thing", rng.choice(["text", "object", "list", "c_char", "enum"])
        is_number = kind == "value" and not (
            issubclass(base, (CudnnEnum, OpaquePointer)) or base.__name__ == "cudnnCallback_t"
        )
        if not is_number and draw < 0.3:
            typed = kind != "value" and rng.random() < 0.4
            return ("NULL", "null", kind) if typed else ("NULL", "value", None)
        if kind == "array":
            length = self._length(p, numbers)
            if p.direction != "in":
                room = max(length + rng.choice([-1, -2, 1, 3]), 0)
                return ("short array" if room < length else "long array"), "out", [length, room]
            if rng.random() < 0.5:
                given = max(length + rng.choice([-1, -2, 1, 3]), 0)
                label = "short array" if given < length else "long array"
                return label, rng.choice(["list", "ctypes", "numpy"]), self._elements(p, given)
            elements = self._elements(p, length)
            for i in range(length):
                if rng.random() < 0.6:
                    elements[i] = rng.choice(_EXTREME)
            return "extreme", rng.choice(["list", "ctypes"]), elements
        if kind == "device":
            return self._odd_memory()
        if kind == "scalar":
            if p.direction == "out":
                return "NULL", "value", None
            ctype = rng.choice(["c_byte", "c_short", "c_float", "c_double"])
            number = rng.choice(_EXTREME_REALS) if ctype in ("c_float", "c_double") else 1
            return "extreme", "scalar", [ctype, number]
        if kind in ("host", "labelled"):
            if rng.random() < 0.5:
                return "other type", "device", [0, 0]
            return "short array", "host", ["c_byte", []]
        if kind == "pointer":
            return "other kind", "slot", [rng.choice(self._kinds), rng.randrange(SLOTS)]
        if issubclass(base, CudnnEnum):
            if rng.random() < 0.5:
                return "extreme", "value", rng.choice([-1, 99, 1 << 20, (1 << 31) - 1])
            return "other kind", "enum", ["cudnnErrQueryMode_t", 1]
        if issubclass(base, OpaquePointer):
            return "other kind", "slot", [rng.choice(self._kinds), rng.randrange(SLOTS)]
        if not is_number:
            return "other type", "thing", "object"
        if base in (c_float, c_double):
            return "extreme", "value", rng.choice(_EXTREME_REALS)
        wide = base.__name__ in ("c_ulong", "c_long")
        return "extreme", "value", rng.choice(_EXTREME_SIZES if wide else _EXTREME)

    def _odd_memory(self) -> Argument:
        rng = self._rng
        choice = rng.choice(["host", "short", "closed", "address"])
        if choice == "host":
            return "host memory", "thing", rng.choice(["array", "c_char"])
        if choice == "address" and self._addresses:
            return "made-up address", "value", rng.choice([1, 0xDEAD0000, (1 << 63) + 8, 1 << 47])
        return (
            f"{choice} memory" if choice != "address" else "short memory",
            "device",
            [
                4 if choice != "closed" else 5,
                0,
            ],
        )
