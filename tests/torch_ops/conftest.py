"""The device of these tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from cudnn_ctypes import use_reference_device


@pytest.fixture(autouse=True)
def the_device(request: pytest.FixtureRequest) -> Iterator[None]:
    """The reference device as an A100, whose products compile fastest, unless it is for a GPU."""
    torch = pytest.importorskip("torch")
    if "torch._dynamo" in sys.modules:  # loading it takes two seconds
        torch.compiler.reset()
    with use_reference_device(request.node.get_closest_marker("gpu") is None, device="A100"):
        yield
