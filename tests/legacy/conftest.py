"""The devices that operations are tested on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from error_report import Report

from cudnn_ctypes import AttentionWeights, AttnDescriptor, Handle, use_reference_device

from .bare_launches import handle_of
from .small_attention import HEADS, OPTIONS, arrays

__all__ = ["Report"]


@pytest.fixture(params=["reference", pytest.param("gpu", marks=pytest.mark.gpu)])
def handle(request: pytest.FixtureRequest) -> Iterator[Handle]:
    """A handle on the reference device, and, where there is one, on the GPU."""
    with handle_of(request.param) as made:
        yield made


@pytest.fixture
def reference_handle() -> Iterator[Handle]:
    """A handle on the reference device."""
    with use_reference_device(), Handle() as made:
        yield made


@pytest.fixture
def gpu_handle() -> Iterator[Handle]:
    """A handle on the GPU."""
    with use_reference_device(False), Handle() as made:
        yield made


@pytest.fixture(params=["reference", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """The reference device, and, where there is one, the GPU; for functions without a handle."""
    with use_reference_device(request.param == "reference"):
        yield "reference" if request.param == "reference" else "GPU"


@pytest.fixture
def on_reference() -> Iterator[None]:
    """The reference device, for functions without a handle."""
    with use_reference_device():
        yield


@pytest.fixture
def attn() -> Iterator[AttnDescriptor]:
    """A small attention."""
    with AttnDescriptor(HEADS, **OPTIONS) as attn:
        yield attn


@pytest.fixture
def weights(handle: Handle, attn: AttnDescriptor) -> Iterator[AttentionWeights]:
    """The weights of the small attention."""
    with AttentionWeights(handle, attn, arrays()) as weights:
        yield weights
