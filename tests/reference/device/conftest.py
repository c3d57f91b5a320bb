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


@pytest.fixture
def program() -> Iterator[Program]:
    with use_reference_device():
        program = Program()
        yield program
        program.close()
