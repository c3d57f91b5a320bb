"""The reference device."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cudnn_ctypes import Handle, use_reference_device

from ..raw_program import Program


@pytest.fixture
def handle() -> Iterator[Handle]:
    with use_reference_device(), Handle() as handle:
        yield handle


def _program(on_reference: bool) -> Iterator[Program]:
    with use_reference_device(on_reference):
        program = Program()
        yield program
        program.close()


@pytest.fixture
def program() -> Iterator[Program]:
    yield from _program(True)


@pytest.fixture(params=["reference", pytest.param("gpu", marks=pytest.mark.gpu)])
def anywhere(request: pytest.FixtureRequest) -> Iterator[Program]:
    """On the reference device, and, where there is one, on the GPU."""
    yield from _program(request.param == "reference")
