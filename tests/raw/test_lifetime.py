"""What raw knows of the descriptors that live: whether they are set, and when they are gone."""

from __future__ import annotations

import copy
import ctypes
import pickle
from collections.abc import Iterator
from ctypes import byref, c_int
from typing import Any

import pytest

from cudnn_ctypes import BadParamError, Handle, raw, use_reference_device
from cudnn_ctypes.raw import live, log
from cudnn_ctypes.raw.ctypes_support import OpaquePointer, storage_type
from cudnn_ctypes.raw.function import binding
from cudnn_ctypes.raw.guards import lifetime

KINDS = [
    name.removeprefix("cudnnCreate")
    for name in raw.FUNCTIONS
    if name.startswith("cudnnCreate")
    and f"cudnnDestroy{name.removeprefix('cudnnCreate')}" in vars(raw)
    if name != "cudnnCreate"
]


def new(kind: str, variable: Any = None) -> Any:
    """A created descriptor, or parameter pack."""
    variable = getattr(raw, f"cudnn{kind}_t")() if variable is None else variable
    create = raw.FUNCTIONS[f"cudnnCreate{kind}"]
    create(variable, *[0] * (len(create.parameters) - 1))
    return variable


def alias(variable: OpaquePointer) -> Any:
    other = type(variable)()
    other.value = variable.value
    return other


def tensor() -> Any:
    x = new("TensorDescriptor")
    raw.cudnnSetTensor4dDescriptor(x, 0, 0, 1, 2, 3, 4)
    return x


@pytest.mark.parametrize("kind", [*KINDS, "BackendDescriptor"])
def test_destroying_one_variable_empties_all_and_is_not_done_twice(kind: str) -> None:
    if kind == "BackendDescriptor":
        first, destroy = raw.cudnnBackendDescriptor_t(), raw.cudnnBackendDestroyDescriptor
        raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, first)
    else:
        first, destroy = new(kind), raw.FUNCTIONS[f"cudnnDestroy{kind}"]
    second = alias(first)
    third = alias(second)
    destroy(second)
    for variable in (first, second, third):
        assert variable.value is None
        assert "destroyed" in repr(variable)
        with pytest.raises(BadParamError, match="was destroyed already"):
            destroy(variable)
        destroy.unchecked(variable)  # harmless


@pytest.mark.parametrize("by", ["reference", "pointer", "array", "element"])
def test_variables_are_known_however_they_are_given(by: str) -> None:
    variables = (raw.cudnnTensorDescriptor_t * 2)()
    single = raw.cudnnTensorDescriptor_t()
    given = {
        "reference": lambda: byref(single),
        "pointer": lambda: ctypes.pointer(single),
        "array": lambda: variables,
        "element": lambda: variables[0],
    }[by]()
    raw.cudnnCreateTensorDescriptor(given)
    held = single if by in ("reference", "pointer") else variables[0]
    second = alias(held)
    raw.cudnnDestroyTensorDescriptor(held)
    assert second.value is held.value is variables[0].value is None


def test_nothing_is_kept_of_what_is_gone() -> None:
    before = len(live._variables)
    for _ in range(live._REMEMBERED // 16):
        descriptors = [tensor() for _ in range(32)]
        for x in descriptors:
            raw.cudnnDestroyTensorDescriptor(x)
    assert len(live._variables) <= before
    assert len(live._gone) <= live._REMEMBERED
    assert not set(live.unusable["cudnnTensorDescriptor_t"]) & set(live._gone)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_pointers_are_not_copied(copied: Any) -> None:
    x = tensor()
    with pytest.raises(TypeError, match=r"a cudnnTensorDescriptor_t is (the|an) address"):
        copied(x)
    raw.cudnnDestroyTensorDescriptor(x)


# --- set or not ----------------------------------------------------------------------------------


def users() -> Iterator[tuple[str, str]]:
    for name in raw.FUNCTIONS:
        for parameter in lifetime.uses(binding(name)):
            yield name, parameter.name


@pytest.mark.parametrize(("name", "parameter"), list(users()))
def test_a_descriptor_that_was_never_set_is_refused_by_name(name: str, parameter: str) -> None:
    function = raw.FUNCTIONS[name]
    if raw.load().optional_symbol(name) is None:
        pytest.skip(f"not in this cuDNN: {name}")
    descriptors: list[Any] = []
    with use_reference_device(), Handle() as handle:
        arguments = {p.name: stand_in(p, handle, descriptors) for p in function.parameters}
        with pytest.raises(BadParamError) as caught:
            function(**arguments)
        for descriptor in descriptors:
            stem = type(descriptor).__name__.removeprefix("cudnn").removesuffix("_t")
            raw.FUNCTIONS[f"cudnnDestroy{stem}"](descriptor)
    if name.startswith("cudnnCTCLoss") or "x is NULL" in caught.value.messages:  # refused before
        assert all(each.endswith("is NULL") for each in caught.value.messages)
        return
    assert f"{parameter} was created, but never set" in caught.value.messages
    assert caught.value.source == "cudnn_ctypes"
    assert caught.value.hint.startswith("a descriptor means nothing before")


def test_a_finalizer_leaves_the_reasons_of_a_failing_call() -> None:
    """The garbage collector may run one between a call and its error."""
    with use_reference_device():
        forgotten = Handle()
        finalize = forgotten._finalizer
        log.put("because", source=log.GUARD)
        with pytest.warns(ResourceWarning, match="unclosed Handle"):
            finalize()
    assert log.take() == (("because",), log.GUARD)


def stand_in(p: Any, handle: Handle, descriptors: list[Any]) -> Any:
    """An argument of the right type; descriptors are new."""
    base, kind = p.type.base, p.type.kind
    if base is raw.cudnnHandle_t:
        return handle
    if kind in ("device", "host", "scalar"):
        return ctypes.c_float(1) if kind == "scalar" else 1 << 20 if p.type.needed_by else None
    if kind == "array":
        return (storage_type(base) * 8)()
    if kind == "pointer":
        return storage_type(base)()
    if f"cudnnCreate{base.__name__.removeprefix('cudnn').removesuffix('_t')}" in raw.FUNCTIONS:
        descriptors.append(new(base.__name__.removeprefix("cudnn").removesuffix("_t")))
        return descriptors[-1]
    if issubclass(base, OpaquePointer):
        return None
    if issubclass(base, int):
        return int(p.name in ("bnOps", "normOps"))
    return 4


def pooled(pooling: Any, x: Any) -> list[int]:
    sizes = [c_int() for _ in range(4)]
    raw.cudnnGetPooling2dForwardOutputDim(pooling, x, *sizes)
    return [size.value for size in sizes]


def test_a_pooling_descriptor_that_a_refused_call_half_set() -> None:
    pooling, x = new("PoolingDescriptor"), tensor()
    raw.cudnnSetPooling2dDescriptor(pooling, 0, 0, 2, 2, 0, 0, 1, 1)
    assert pooled(pooling, x) == [1, 2, 2, 3]
    with pytest.raises(BadParamError):
        raw.cudnnSetPooling2dDescriptor(pooling, 0, 0, 2, 2, 0, 0, 0, 0)  # stores the strides
    for _ in range(2):
        with pytest.raises(BadParamError, match="may be half set: the last cudnnSetPooling2d"):
            pooled(pooling, x)  # divides by them
    raw.cudnnSetPooling2dDescriptor(pooling, 0, 0, 1, 1, 0, 0, 1, 1)
    assert pooled(pooling, x) == [1, 2, 3, 4]
    raw.cudnnDestroyPoolingDescriptor(pooling)
    raw.cudnnDestroyTensorDescriptor(x)
