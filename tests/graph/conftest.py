"""Fixtures of the graph API: the real library, with a stand-in where there is no driver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cudnn_ctypes.graph.backend.device_properties import DeviceProperties

from .graphs import Made


@pytest.fixture
def made() -> Iterator[Made]:
    """Makes descriptors that live as long as the test."""
    descriptors = Made()
    with descriptors.stack:
        yield descriptors


@pytest.fixture
def a100() -> Iterator[DeviceProperties]:
    """For it cuDNN compiles products of matrices in a fifth of the time."""
    with DeviceProperties.preset("A100") as properties:
        yield properties


@pytest.fixture
def h200() -> Iterator[DeviceProperties]:
    with DeviceProperties.preset("H200") as properties:
        yield properties
