"""What C receives: functions written in C beside the headers' declarations note their arguments."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from ctypes import byref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cudnn_ctypes import TensorDescriptor, raw, use_reference_device
from cudnn_ctypes.absent_gpu.driver_stub import ensure_driver
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, OpaquePointer, storage_type
from cudnn_ctypes.raw.function import binding
from cudnn_ctypes.raw.guards import Fragment
from cudnn_ctypes.raw.values import INTEGER_RANGES

MOST = 64  # parameters
CALLED = [
    name
    for name in raw.FUNCTIONS
    if binding(name).returns_status
    # These have a Python function before them, which is C's for all others.
    and name not in ("cudnnSetCallback", "cudnnGetCallback")
]


@pytest.fixture(scope="module")
def noting(header_compiler: Any, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """A library whose functions have cuDNN's names and store the bytes of their arguments."""
    lines = ["#include <string.h>", f"unsigned long long seen[{MOST}];"]
    for name in CALLED:
        notes = [
            f"seen[{i}] = 0; memcpy(&seen[{i}], &{p.name}, sizeof({p.name}));"
            for i, p in enumerate(raw.FUNCTIONS[name].parameters)
        ]
        body = " ".join([*notes, "return CUDNN_STATUS_SUCCESS;"])
        lines.append(f"{raw.FUNCTIONS[name].prototype} {{ {body} }}")
    source = header_compiler._source("\n".join(lines) + "\n")
    # An array parameter is a pointer in C, whose size is what is to be copied.
    flags = ["-shared", "-fPIC", "-Wno-sizeof-array-argument", "-Wno-deprecated-declarations"]
    file = Path(tmp_path_factory.mktemp("noting"), "libnoting.so")
    subprocess.run([*header_compiler.command, *flags, str(source), "-o", str(file)], check=True)
    return ctypes.CDLL(str(file))


@pytest.fixture
def in_c(noting: ctypes.CDLL) -> Iterator[Callable[..., Any]]:
    """Puts the noting function in the place of cuDNN's; gives it, and what it saw."""
    changed = []

    def put(name: str, *, guards: bool) -> Callable[[], list[int]]:
        bound = binding(name)
        symbol = noting[name]
        symbol.argtypes, symbol.restype = bound.argtypes, ctypes.c_int
        vars(bound)["native"] = symbol
        if not guards:
            vars(bound)["guard"] = Fragment()
            vars(bound).pop("_compiled", None)
        bound.rebind()
        changed.append((bound, bound._interceptor))
        bound.intercept(None)
        seen = (ctypes.c_uint64 * MOST).in_dll(noting, "seen")
        return lambda: list(seen[: len(bound.parameters)])

    yield put
    for bound, interceptor in changed:
        vars(bound).pop("native", None)
        vars(bound).pop("guard", None)
        vars(bound).pop("_compiled", None)
        bound.intercept(interceptor)
        bound.rebind()


def bits(value: Any) -> int:
    """The bytes of a ctypes object, as C stores it."""
    return int.from_bytes(bytes(value), "little")


def sample(parameter: raw.Parameter, number: int, *, usual: bool) -> tuple[Any, int]:
    """An argument, and what C is to receive: the class most programs pass, or another one."""
    base, kind, address = parameter.type.base, parameter.type.kind, 0x7F00_0000_0000 + 4096 * number
    if kind == "host":
        given = ctypes.c_void_p(address)
        return (given if usual else SimpleNamespace(_as_parameter_=given)), address
    if kind in ("device", "labelled"):
        return (address if usual else ctypes.c_void_p(address)), address
    if kind == "scalar":
        real = (ctypes.c_float if number % 2 else ctypes.c_double)(1.5)
        return (real if usual else byref(real)), ctypes.addressof(real)
    if kind == "pointer":
        variable = storage_type(base)()
        return (variable if usual else byref(variable)), ctypes.addressof(variable)
    if kind == "array":
        array = (storage_type(base) * 3)()
        pointer = ctypes.pointer(array[0]) if issubclass(base, OpaquePointer) else None
        if pointer is None:
            pointer = ctypes.cast(array, ctypes.POINTER(storage_type(base)))
        return (array if usual else pointer), ctypes.addressof(array if usual else pointer.contents)
    if issubclass(base, CudnnEnum):
        member = list(base)[-1]
        return (member if usual else int(member)), int(member)
    if issubclass(base, OpaquePointer):
        handle = base()
        ctypes.c_void_p.from_buffer(handle).value = address  # nobody is told that it lives
        return (handle if usual else SimpleNamespace(_as_parameter_=handle)), address
    if base in (ctypes.c_float, ctypes.c_double):
        return (2.5 if usual else 3), bits(base(2.5 if usual else 3))
    largest = (1 << (8 * ctypes.sizeof(base) - 1)) - 1 - number
    return (largest if usual else base(largest)), largest


@pytest.mark.parametrize("usual", [True, False], ids=["usual", "other"])
@pytest.mark.parametrize("name", CALLED)
def test_c_receives_what_was_given(in_c: Any, name: str, usual: bool) -> None:
    seen = in_c(name, guards=False)
    samples = [sample(p, i, usual=usual) for i, p in enumerate(raw.FUNCTIONS[name].parameters)]
    for _ in range(2):  # found out, then known
        raw.FUNCTIONS[name](*(argument for argument, _ in samples))
        assert seen() == [expected for _, expected in samples]


def not_null() -> list[tuple[str, str]]:
    """Functions that need no GPU, each with a descriptor for which type checkers refuse None."""
    return [
        (name, p.name)
        for name, function in raw.FUNCTIONS.items()
        if not any(p.type.base is raw.cudnnHandle_t for p in function.parameters)
        for p in function.parameters
        if p.type.kind == "value" and p.type.base.__name__.startswith("cudnn")
        if issubclass(p.type.base, OpaquePointer) and not p.type.null
    ]


@pytest.mark.parametrize(("name", "null"), not_null())
def test_c_refuses_null_where_type_checkers_refuse_none(name: str, null: str) -> None:
    ensure_driver()  # it is loaded with some of them
    arguments: list[Any] = []
    for i, p in enumerate(raw.FUNCTIONS[name].parameters):
        base = p.type.base
        if p.name == null:
            arguments.append(None)
        elif p.type.kind in ("host", "labelled"):
            arguments.append(ctypes.create_string_buffer(64))
        elif p.type.kind == "value" and issubclass(base, OpaquePointer):
            arguments.append(base())
            create = base.__name__.replace("cudnn", "cudnnCreate", 1).removesuffix("_t")
            raw.FUNCTIONS[create](arguments[-1])
        elif p.type.kind == "value" and base in INTEGER_RANGES:
            arguments.append(2)
        elif p.type.kind == "array":
            arguments.append((storage_type(base) * 8)())
        else:
            arguments.append(sample(p, i, usual=True)[0])
    status = raw.FUNCTIONS[name].unchecked(*arguments)
    assert status.name.startswith("CUDNN_STATUS_BAD_PARAM")


@pytest.fixture
def set_tensor(in_c: Any) -> Iterator[Callable[..., int]]:
    """cudnnSetTensor, which has one piece of memory; the address that C received for it."""
    with use_reference_device():
        handle = raw.cudnnHandle_t()
        ctypes.c_void_p.from_buffer(handle).value = 4096
        seen = in_c("cudnnSetTensor", guards=True)

        def call(descriptor: Any, memory: Any) -> int:
            raw.cudnnSetTensor(handle, descriptor, memory, 1.0)
            return seen()[2]

        yield call


def torch_tensor(*shape: int) -> Any:
    return pytest.importorskip("torch").ones(shape)


def test_what_fitted_is_looked_at_again(set_tensor: Any) -> None:
    """The same object may be another tensor at the next call."""
    with TensorDescriptor((2, 3, 4, 5)) as descriptor:
        x = descriptor._as_parameter_
        for change in (
            lambda t: t.as_strided_((2, 3, 4, 5), (60, 20, 1, 4)),
            lambda t: t.resize_(2, 3, 4, 4),
            lambda t: setattr(t, "data", t.double()),
        ):
            tensor = torch_tensor(2, 3, 4, 5)
            for _ in range(2):
                assert set_tensor(x, tensor) == tensor.data_ptr()
            change(tensor)
            with pytest.raises(ValueError, match="contradicts yDesc"):
                set_tensor(x, tensor)


def test_host_memory_that_fitted_is_no_memory_of_a_gpu(set_tensor: Any) -> None:
    tensor = torch_tensor(2, 3, 4, 5)
    with TensorDescriptor((2, 3, 4, 5)) as descriptor:
        x = descriptor._as_parameter_
        assert set_tensor(x, tensor) == tensor.data_ptr()
        use_reference_device(False)
        with pytest.raises(TypeError, match="host memory"):
            set_tensor(x, tensor)
