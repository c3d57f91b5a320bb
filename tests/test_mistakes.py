"""What a beginner is told: usual mistakes, and the words of the message that mend each."""

from __future__ import annotations

from ctypes import c_int

import numpy as np
import pytest

import cudnn_ctypes as c
from cudnn_ctypes import raw


def memory(*shape, dtype=np.float32):
    return c.DeviceTensor.from_numpy(np.ones(shape, dtype))


def described(shape=(1, 4, 8, 8), dtype="float32"):
    return c.TensorDescriptor(shape, dtype)


class _Product:
    """A matrix product, as a graph and as a plan."""

    def __init__(self):
        self.graph = c.Graph(io_data_type="float32", compute_data_type="float32")
        self.a, self.b = (self.graph.tensor((1, 4, 4), name=name) for name in "ab")
        self.y = self.graph.matmul(self.a, self.b, name="product")
        self.y.set_output(True)


def _plan(h):
    product = _Product()
    return product.graph.build(h).execute(h, {})


def _half(h):
    product, x = _Product(), memory(1, 4, 4, dtype=np.float16)
    product.graph.build(h)
    product.graph.execute({product.a: x, product.b: memory(1, 4, 4), product.y: x}, handle=h)


def _convolved(h, *, algorithm=None, **options):
    x, w = memory(1, 4, 8, 8), memory(3, 4, 3, 3)
    convolution = c.ConvolutionDescriptor(padding=1, **options)
    return c.convolution_forward(h, x, w, convolution, algorithm=algorithm)


_WINOGRAD = raw.CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED

MISTAKES = {
    "a data type is forgotten": (
        lambda h: raw.cudnnSetTensor4dDescriptor(described(), raw.CUDNN_TENSOR_NCHW, 1, 4, 8, 8),
        "lacks 'w'; is 'dataType' forgotten",
    ),
    "format and data type are swapped": (
        lambda h: raw.cudnnSetTensor4dDescriptor(
            described(), raw.CUDNN_DATA_FLOAT, raw.CUDNN_TENSOR_NCHW, 1, 4, 8, 8
        ),
        "are 'format' and 'dataType' swapped",
    ),
    "a descriptor was not created": (
        lambda h: raw.cudnnSetTensor4dDescriptor(raw.cudnnTensorDescriptor_t(), 0, 0, 1, 1, 1, 1),
        "raw.cudnnCreateTensorDescriptor has to create it first",
    ),
    "Winograd with stride 2": (
        lambda h: _convolved(h, stride=2, algorithm=_WINOGRAD),
        r"stride and dilation 1; these are \(3, 3\), \(2, 2\)",
    ),
    "memory of another type": (
        lambda h: raw.cudnnSoftmaxForward(
            h, 0, 0, 1, described(), memory(1, 4, 8, 8, dtype=np.float16), 0, described(), None
        ),
        "float16 .* contradicts xDesc, which says CUDNN_DATA_FLOAT",
    ),
    "a scalar of another type": (
        lambda h: raw.cudnnSetTensor(h, described(), memory(1, 4, 8, 8), c_int(1)),
        "float",
    ),
    "memory that is too small": (
        lambda h: raw.cudnnSetTensor(h, described(), c.DeviceBuffer(16), 1.0),
        "16 bytes",
    ),
    "a plan without tensors": (_plan, r"'a' \(uid 1\), 'b' \(uid 2\), 'product' \(uid 3\)"),
    "float16 for float32 in a graph": (_half, "'a' .* is float32 .*, got float16"),
    "a name that is misspelt": (lambda h: raw.cudnnCreateTensorDescripter, "did you mean"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_message_mends_it(mistake):
    make, words = MISTAKES[mistake]
    with c.use_reference_device(), c.Handle() as handle:
        with pytest.raises(Exception, match=f"(?si){words}") as raised:
            make(handle)
        assert len(str(raised.value)) < 1500
