"""The same questions put to `BackendDescriptor`: every attribute, with values of every class.

Anything may be refused with a Python exception; nothing may end the process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cudnn_ctypes import raw
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.raw.attributes import ATTRIBUTES, KINDS

from .descriptors import CREATABLE, STATES, Workshop

__all__ = ["Case", "Uses", "cases"]

_STATES = (*STATES, "closed")
_DEEP: list[Any] = [[[[1]]]]

VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "zero": 0,
    "minus one": -1,
    "big": 2**62,
    "too big": 2**64,
    "real": 0.5,
    "infinity": float("inf"),
    "nan": float("nan"),
    "fraction": Fraction(1, 3),
    "complex": 1j,
    "text": "nothing",
    "empty text": "",
    "bytes": b"{",
    "JSON": '{"a": [1, {"b": null}]}',
    "deep JSON": "[" * 100_000,
    "empty list": [],
    "ones": [1, 1],
    "zeros": [0] * 4,
    "minus ones": [-1] * 4,
    "bigs": [2**62] * 4,
    "many": [1] * 1000,
    "nested": _DEEP,
    "reals": [0.5, 0.5],
    "nones": [None, None],
    "array": np.arange(4),
    "empty array": np.zeros(0, np.int64),
    "objects": np.array([None, "a"], object),
    "enumerator": raw.CUDNN_DATA_HALF,
    "unknown enumerator": raw.cudnnDataType_t(4242),
    "c_int": ctypes.c_int(1),
    "c_double": ctypes.c_double(0.0),
    "set": {1, 2},
    "dict": {"a": 1},
    "object": object(),
    "type": int,
    "generator": (i for i in range(3)),
    "NULL": raw.cudnnBackendDescriptor_t(),
}
_WHOLE = (
    *("finalize", "finalize_twice", "reset", "close_twice", "held", "tree", "walk", "execute"),
    *("compare", "children_closed"),
)


@dataclass(frozen=True)
class Case:
    """One use of a descriptor: `value` is a key of `VALUES`, or "state kind" of a descriptor."""

    call: str
    kind: str
    state: str
    name: str = ""
    value: str = ""

    def __str__(self) -> str:
        return f"{self.call} {self.kind} ({self.state}) {self.name} {self.value}".rstrip()


def cases() -> Iterator[Case]:
    for kind in CREATABLE:
        for state in _STATES:
            for call in _WHOLE:
                yield Case(call, kind, state)
        for name, known in ATTRIBUTES[KINDS[kind]].items():
            for state in _STATES:
                yield Case("get", kind, state, name)
                yield Case("read_back", kind, state, name)
            for value in VALUES:
                for call, state in (("set", "new"), ("set_finalize", "complete"), ("set", "final")):
                    yield Case(call, kind, state, name, value)
            for child in CREATABLE if known.wants else CREATABLE[:3]:
                for state in ("new", "final", "closed"):
                    yield Case("set_finalize", kind, "complete", name, f"{state} {child}")


class Uses:
    """Carries cases out."""

    def __init__(self) -> None:
        self.shop = Workshop()

    def perform(self, case: Case) -> str:
        try:
            getattr(self, case.call)(self.descriptor(case.kind, case.state), case)
        except Exception as error:
            return type(error).__name__
        return "passed"

    def descriptor(self, kind: str, state: str) -> BackendDescriptor:
        if state == "final" and kind == "layout_info":
            kind = "knob_info"
        if state == "closed":
            made = self.shop.make(kind, "new")
            made.close()
            return made
        return self.shop.make(kind, state)

    def value(self, case: Case) -> Any:
        if case.value in VALUES:
            return VALUES[case.value]
        state, kind = case.value.split()
        child = self.descriptor(kind, state)
        several = ATTRIBUTES[KINDS[case.kind]][case.name].is_array
        return [child] if several else child

    # --- what cases are called by ---

    def set(self, descriptor: BackendDescriptor, case: Case) -> None:
        descriptor.set(case.name, self.value(case))

    def set_finalize(self, descriptor: BackendDescriptor, case: Case) -> None:
        descriptor.set(case.name, self.value(case))
        descriptor.finalize()

    def get(self, descriptor: BackendDescriptor, case: Case) -> None:
        descriptor.get(case.name)

    def read_back(self, descriptor: BackendDescriptor, case: Case) -> None:
        descriptor.read_back(case.name)

    def finalize(self, descriptor: BackendDescriptor, case: Case) -> None:
        descriptor.finalize()

    def finalize_twice(self, descriptor: BackendDescriptor, case: Case) -> None:
        descriptor.finalize()
        descriptor.finalize()

    def reset(self, descriptor: BackendDescriptor, case: Case) -> None:
        descriptor.reset()
        descriptor.finalize()

    def close_twice(self, descriptor: BackendDescriptor, case: Case) -> None:
        descriptor.close()
        descriptor.close()

    def held(self, descriptor: BackendDescriptor, case: Case) -> None:
        descriptor.held()

    def tree(self, descriptor: BackendDescriptor, case: Case) -> None:
        assert descriptor.tree()
        assert repr(descriptor)

    def walk(self, descriptor: BackendDescriptor, case: Case) -> None:
        assert list(descriptor.walk())

    def compare(self, descriptor: BackendDescriptor, case: Case) -> None:
        bool(descriptor == self.descriptor(case.kind, case.state))

    def children_closed(self, descriptor: BackendDescriptor, case: Case) -> None:
        """Use it after what it refers to was closed."""
        fresh = Workshop()
        own = fresh.make(case.kind, case.state) if case.state in STATES else descriptor
        for _, child in own.children():
            child.close()
        repr(own)
        own.held()
        own.finalize()

    def execute(self, descriptor: BackendDescriptor, case: Case) -> None:
        raw.cudnnBackendExecute(raw.cudnnHandle_t(), descriptor, self.shop.final("variant_pack"))
