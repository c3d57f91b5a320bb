"""Fixtures of the graph API: the real library, with a stand-in where there is no driver."""

import pytest

from cudnn_ctypes import Handle, use_reference_device
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties

from .graphs import Made


@pytest.fixture(autouse=True)
def gpu_of_gpu_tests(request):
    """Memory on the GPU while a test runs that is marked so, whatever the environment says."""
    if request.node.get_closest_marker("gpu") is None:
        yield
    else:
        with use_reference_device(False):
            yield


@pytest.fixture
def made():
    """Makes descriptors that live as long as the test."""
    descriptors = Made()
    with descriptors.stack:
        yield descriptors


@pytest.fixture
def a100():
    """For it cuDNN compiles products of matrices in a fifth of the time."""
    with DeviceProperties.preset("A100") as properties:
        yield properties


@pytest.fixture
def h200():
    with DeviceProperties.preset("H200") as properties:
        yield properties


@pytest.fixture
def handle(request):
    """Of the GPU for a test that is marked so, else of the reference device."""
    with use_reference_device(request.node.get_closest_marker("gpu") is None), Handle() as made:
        yield made


on_each_device = pytest.mark.parametrize(
    "handle", ["reference device", pytest.param("GPU", marks=pytest.mark.gpu)], indirect=True
)
"""Mark of a test that runs on the reference device, and on a GPU where there is one."""
