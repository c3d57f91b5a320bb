"""The functions run on the reference device, and on a GPU where there is one."""

import pytest

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.porting.cudart.sides import REFERENCE


@pytest.fixture
def reference_device():
    """The reference device, for cuDNN's functions too; at the end all its memory is freed."""
    before = set(REFERENCE.allocated)  # by programs of other tests
    with use_reference_device():
        yield
        left = {a: REFERENCE.allocated.pop(a) for a in set(REFERENCE.allocated) - before}
    assert not left, f"memory of the reference device was not freed: {left}"


@pytest.fixture(params=["reference_device", pytest.param("gpu_device", marks=pytest.mark.gpu)])
def any_device(request):
    """Name of the device that the test runs on."""
    request.getfixturevalue(request.param)
    return str(request.param)
