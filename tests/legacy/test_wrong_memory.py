"""Every operation refuses wrong memory, options and factors by the argument's name, before C."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from cudnn_ctypes import ClosedError, DeviceBuffer, DeviceTensor, Handle, TensorDescriptor
from cudnn_ctypes.legacy.descriptor import Descriptor

from .operation_table import FAMILIES, Case, rows


def function_of(case: Case) -> Any:
    return getattr(case.operation, "__func__", case.operation)


def arguments_of(case: Case) -> dict[str, Any]:
    owner = (case.operation.__self__,) if function_of(case) is not case.operation else ()
    signature = inspect.signature(function_of(case))
    return dict(signature.bind(*owner, *case.args, **case.kwargs).arguments)


def refusal(case: Case, **changes: Any) -> Exception | None:
    try:
        function_of(case)(**{**arguments_of(case), **changes})
    except (TypeError, ValueError, ClosedError) as error:
        return error
    return None


@pytest.fixture(params=FAMILIES, ids=lambda family: family.__name__)
def cases(request: pytest.FixtureRequest, reference_handle: Handle) -> Iterator[list[Case]]:
    with rows(request.param, reference_handle) as made:
        yield list(made.values())


def operands(cases: list[Case]) -> Iterator[tuple[Case, str, DeviceTensor]]:
    for case in cases:
        for name, value in arguments_of(case).items():
            if isinstance(value, DeviceTensor):
                yield case, name, value


def test_what_is_no_device_memory(cases: list[Case]) -> None:
    for case, name, value in operands(cases):
        for wrong in (value.numpy(), object(), "text", 1.5, True, 0, ctypes.c_void_p()):
            error = refusal(case, **{name: wrong})
            assert isinstance(error, (TypeError, ValueError)), (case.operation, name)
            assert str(error).startswith(f"{name}: ")


def test_addresses_without_a_shape(cases: list[Case]) -> None:
    for case, name, value in operands(cases):
        error = refusal(case, **{name: value.ptr})
        # Of some operands the shape is known, which an address says to be right.
        if error is not None:
            assert isinstance(error, TypeError)
            assert str(error).startswith(f"{name}: ")
        elif f"{name}_desc" in inspect.signature(function_of(case)).parameters:
            pytest.fail(f"{case.operation} takes {name} without {name}_desc")


def test_closed_memory(cases: list[Case]) -> None:
    for case, name, value in operands(cases):
        closed = DeviceTensor.empty(value.shape, value.data_type, strides=value.strides)
        closed.close()
        assert isinstance(refusal(case, **{name: closed}), ClosedError), (case.operation, name)


def test_memory_that_is_too_small(cases: list[Case]) -> None:
    for case, name, value in operands(cases):
        if f"{name}_desc" in inspect.signature(function_of(case)).parameters and value.ndim == 4:
            with TensorDescriptor.of(value) as desc, DeviceBuffer(4) as small:
                error = refusal(case, **{name: small, f"{name}_desc": desc})
            if name != "w":  # filters have another descriptor
                assert isinstance(error, ValueError)
                assert str(error).startswith(f"{name}: 4 bytes are too small")


def test_options_of_another_kind(cases: list[Case]) -> None:
    for case in cases:
        for name, value in arguments_of(case).items():
            if isinstance(value, (Descriptor, Handle)) and name != "self":
                error = refusal(case, **{name: object()})
                assert isinstance(error, TypeError), (case.operation, name)
                assert name in str(error)
                assert "expected a" in str(error)


def test_factors_of_results_that_are_made(cases: list[Case]) -> None:
    for case in cases:
        made = inspect.signature(function_of(case)).parameters
        if "beta" in made and arguments_of(case).keys() < {n for n in made if "desc" not in n}:
            error = refusal(case, beta=0.5)
            assert error is None or "needed with beta=0.5" in str(error)
            assert isinstance(refusal(case, beta="text"), TypeError)
