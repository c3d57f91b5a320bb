"""The device of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cudnn_ctypes import use_reference_device


@pytest.fixture(autouse=True)
def the_device(request: pytest.FixtureRequest) -> Iterator[None]:
    """The reference device, unless the test is for a GPU."""
    torch = pytest.importorskip("torch")
    torch.compiler.reset()
    with use_reference_device(active=request.node.get_closest_marker("gpu") is None):
        yield
