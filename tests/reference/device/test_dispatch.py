"""Which calls the reference device takes, and that none with its handles gets to cuDNN."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from typing import Any

import pytest
from programs import printed

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw import function as raw_function
from cudnn_ctypes.raw import library, mode
from cudnn_ctypes.raw.bare import bare
from cudnn_ctypes.raw.ctypes_support import CudnnEnum
from cudnn_ctypes.reference.device import dispatch, registry

WITH_HANDLE = [
    name
    for name, function in raw.FUNCTIONS.items()
    if name != "cudnnCreate"
    and any(
        p.type.base is raw.cudnnHandle_t and p.type.kind == "value" for p in function.parameters
    )
]


@pytest.fixture
def handle():
    with cudnn.use_reference_device():
        made_up = raw.cudnnHandle_t()
        raw.cudnnCreate(made_up)
        yield made_up
        if made_up:
            raw.cudnnDestroy(made_up)


def zero(parameter: Any) -> Any:
    """A number, the first enumerator, and NULL for everything else."""
    base = parameter.type.base
    if parameter.type.kind != "value":
        return None
    if issubclass(base, CudnnEnum):
        return next(iter(base))
    if base in (ctypes.c_float, ctypes.c_double):
        return 0.0
    return 0 if issubclass(base, ctypes._SimpleCData) else None


def test_a_made_up_handle_never_reaches_cudnn(monkeypatch, handle):
    def reached(*args: Any) -> int:
        raise AssertionError("it reached cuDNN")

    for name in WITH_HANDLE:
        function, binding = raw.FUNCTIONS[name], raw_function.binding(name)
        monkeypatch.setitem(binding.__dict__, "native", reached)
        for rest in (lambda _: None, zero):
            arguments = [
                handle if p.type.base is raw.cudnnHandle_t else rest(p) for p in function.parameters
            ]
            # Refused: by its status, or with an exception if types are not even those of C.
            with contextlib.suppress(TypeError, ValueError, NotImplementedError):
                assert isinstance(function.unchecked(*arguments), raw.cudnnStatus_t), name


def test_launches_are_noted_of_functions_that_the_library_lacks(monkeypatch):
    def lacking(self, name, **_):
        raise cudnn.SymbolNotFoundError(name)

    name = "cudnnGnnAggSimpleForward"
    monkeypatch.delitem(vars(bare), name, raising=False)
    monkeypatch.setattr(library.Library, "symbol", lacking)
    module = sys.modules[type(bare).__module__]
    monkeypatch.setattr(module, "watched", {name})
    assert getattr(bare, name) is getattr(raw, name)
    monkeypatch.setattr(module, "watched", set())
    with pytest.raises(cudnn.SymbolNotFoundError, match=name):
        getattr(bare, name)


def test_without_it_creating_a_handle_needs_a_gpu():
    handle = raw.cudnnHandle_t()
    with cudnn.use_reference_device(False):
        if raw.cudnnCreate.unchecked(handle) == raw.CUDNN_STATUS_SUCCESS:
            raw.cudnnDestroy(handle)
            pytest.skip("there is a GPU")
        with pytest.raises(cudnn.NotInitializedError, match="use_reference_device"):
            raw.cudnnCreate(handle)
    with cudnn.use_reference_device():
        raw.cudnnCreate(handle)
        raw.cudnnDestroy(handle)


AFTER_USE = """
import ctypes
from cudnn_ctypes import Graph, Handle, raw, use_reference_device
from cudnn_ctypes.raw.function import binding, watched

def intercepted():
    return {name for name in raw.FUNCTIONS if binding(name)._interceptor is not None}

with use_reference_device():
    handle = Handle()
    address = handle._as_parameter_.value
    graph = Graph(io_data_type="float32")
    x = graph.tensor((1, 8, 8), name="x")
    graph.relu(x).set_output(name="y")
    graph.build(handle, without_engine=True)
    assert len(intercepted()) > 100 and watched
count = ctypes.c_int()
raw.cudnnGetConvolutionForwardAlgorithmMaxCount(handle, count)  # a handle keeps its device
assert count.value == 10 and "cudnnBackendExecute" in watched
handle.close()
assert not watched
left = intercepted()
assert "cudnnBackendSetAttribute" in left and "cudnnBackendExecute" not in left
descriptor = raw.cudnnBackendDescriptor_t()
raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, descriptor)
graph.close()
raw.cudnnBackendDestroyDescriptor(descriptor)
left = intercepted()
assert not {name for name in left if "Backend" in name}, left
assert all(name.startswith(("cudnnCreate", "cudnnSet")) or "Transform" in name for name in left)
stale = raw.cudnnHandle_t()
stale.value = address
status = raw.cudnnGetConvolutionForwardAlgorithmMaxCount.unchecked(stale, count)
assert status.name.startswith("CUDNN_STATUS_BAD_PARAM"), status
with use_reference_device(), Handle() as again:
    raw.cudnnGetConvolutionForwardAlgorithmMaxCount(again, count)
    assert again._as_parameter_.value != address and watched
print("done", bool(watched))
"""


def test_having_used_it_costs_nothing():
    assert printed(AFTER_USE) == ["done False"]


@pytest.mark.parametrize("wrong", [{"active": "B200"}, {"strict": 1}, {"guard_pages": "no"}])
def test_switches_are_bools(wrong):
    with pytest.raises(TypeError, match=f"^{next(iter(wrong))}: expected True or False"):
        cudnn.use_reference_device(**wrong)


def test_modes_are_restored():
    before = mode.strict, mode.guard_pages
    with cudnn.use_reference_device(strict=not before[0], guard_pages=not before[1]):
        assert (mode.strict, mode.guard_pages) == (not before[0], not before[1])
        with cudnn.use_reference_device(False):
            assert mode.strict is not before[0]
    assert (mode.strict, mode.guard_pages) == before


@pytest.mark.parametrize(
    ("value", "wanted"), [("Strict, guard_pages", "True True"), ("", "False False")]
)
def test_checks_by_environment(monkeypatch, value: str, wanted: str):
    monkeypatch.setenv("CUDNN_CTYPES_MEMCHECK", value)
    program = "from cudnn_ctypes.raw import mode; print(mode.strict, mode.guard_pages)"
    assert printed(program) == [wanted]


def test_modules_register_what_the_declarations_say():
    for module in dispatch._MODULES.values():
        dispatch._load(module)
    registered = {
        name: each.__module__.rpartition(".")[2] for name, each in registry.implementations.items()
    }
    assert registered == dispatch._MODULES
