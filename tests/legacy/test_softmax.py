"""Softmax through layer 2: operands whose layouts differ."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw, reference
from cudnn_ctypes.errors import FaultWarning
from cudnn_ctypes.raw.function import binding, intercept

from .bare_launches import handle_each_way  # noqa: F401


def tensor(array: np.ndarray, **how: Any) -> cudnn.DeviceTensor:
    return cudnn.DeviceTensor.from_numpy(array, **how)


LAYOUTS: dict[str, dict[str, Any]] = {
    "NCHW": {},
    "NHWC": {"layout": "NHWC"},
    "gaps between images": {"strides": (80, 12, 4, 1)},
    "gaps between channels": {"strides": (84, 14, 4, 1)},
}
SHAPE = (2, 6, 3, 4)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("mode", ["channel", "instance"])
@pytest.mark.parametrize(("x", "y"), list(itertools.product(LAYOUTS, LAYOUTS)))
def test_layouts_that_differ(handle: cudnn.Handle, mode: str, x: str, y: str) -> None:
    """Launches that are new, and found."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        scores, prior = rng.standard_normal((2, *SHAPE)).astype(np.float32)
        with tensor(scores, **LAYOUTS[x]) as source, tensor(prior, **LAYOUTS[y]) as target:
            cudnn.softmax_forward(handle, source, target, mode=mode, alpha=2, beta=0.5)
            wanted = reference.softmax_forward(scores, mode=mode, y=prior, alpha=2, beta=0.5)
            np.testing.assert_allclose(target.numpy(), wanted, rtol=1e-5, atol=1e-6)
            assert (source.numpy() == scores).all()
    with tensor(scores, **LAYOUTS[x]) as source, tensor(prior, **LAYOUTS[y]) as target:
        with cudnn.bind(cudnn.softmax_forward, handle, source, target, mode=mode) as bound:
            bound()
        wanted = reference.softmax_forward(scores, mode=mode)
        np.testing.assert_allclose(target.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_layer_1_warns_of_layouts_that_differ_once() -> None:
    """C's function is replaced: a GPU is not needed."""
    shape, options = (2, 6, 3, 4), (raw.CUDNN_SOFTMAX_ACCURATE, raw.CUDNN_SOFTMAX_MODE_CHANNEL)
    handle = raw.cudnnHandle_t()
    handle.value = 4096
    with (
        cudnn.use_reference_device(False),
        cudnn.TensorDescriptor(shape) as planes,
        cudnn.TensorDescriptor(shape, layout="NHWC") as pixels,
        cudnn.TensorDescriptor(shape) as same,
    ):
        before = binding("cudnnSoftmaxForward")._interceptor  # of handles that still live
        intercept("cudnnSoftmaxForward", lambda *arguments: 0)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for x in (same, pixels, same, pixels):
                    raw.cudnnSoftmaxForward(handle, *options, 1.0, x, 1, 0.0, planes, 2)
                warnings.simplefilter("error")
                raw.cudnnSoftmaxForward(handle, *options, 1.0, planes, 1, 0.0, pixels, 2)
                with pytest.raises(FaultWarning):
                    raw.cudnnSoftmaxForward(handle, *options, 1.0, pixels, 1, 0.0, same, 2)
        finally:
            intercept("cudnnSoftmaxForward", before)
    (warning,) = caught
    assert warning.category is FaultWarning
    for part in ("yDesc (2, 6, 3, 4) with strides (72, 12, 4, 1)", "xDesc", "cudnnTransformTensor"):
        assert part in str(warning.message)
