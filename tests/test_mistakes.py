"""What a beginner is told: usual mistakes, and the words of the message that mend each."""

from __future__ import annotations

from ctypes import c_float, c_int

import numpy as np
import pytest
from programs import run_program

import cudnn_ctypes as c
from cudnn_ctypes import raw

pytestmark = pytest.mark.usefixtures("without_engines")


def memory(*shape, dtype=np.float32):
    return c.DeviceTensor.from_numpy(np.ones(shape, dtype))


def x(dtype=np.float32):
    return memory(1, 4, 8, 8, dtype=dtype)


def xd(shape=(1, 4, 8, 8), dtype="float32"):
    return c.TensorDescriptor(shape, dtype)


def new():
    descriptor = raw.cudnnTensorDescriptor_t()
    raw.cudnnCreateTensorDescriptor(descriptor)
    return descriptor


def closed(owner):
    owner.close()
    return owner


def freed():
    memory = c.DeviceBuffer(1024)
    address = memory.ptr
    memory.close()
    return address


class Product:
    """A matrix product, as a graph and as a plan."""

    def __init__(self, b=(1, 4, 4), output=True, **types):
        types = types or {"io_data_type": "float32", "compute_data_type": "float32"}
        self.graph = c.Graph(**types)
        self.a, self.b = self.graph.tensor((1, 4, 4), name="a"), self.graph.tensor(b, name="b")
        self.y = self.graph.matmul(self.a, self.b, name="product")
        self.y.set_output(output)

    def run(self, h, build=True, **memories):
        if build:
            self.graph.build(h)
        self.graph.execute({"b": memory(1, 4, 4), "product": memory(1, 4, 4), **memories}, handle=h)


def convolved(
    h, x=(1, 4, 8, 8), w=(3, 4, 3, 3), dtype="float32", y=None, algorithm=None, **options
):
    x, w = memory(*x, dtype=dtype), memory(*w, dtype=dtype)
    convolution = c.ConvolutionDescriptor(padding=1, **options)
    return c.convolution_forward(h, x, w, convolution, y, algorithm=algorithm)


def convolved_by_c(h, workspace):
    conv, w = c.ConvolutionDescriptor(padding=1), c.FilterDescriptor((3, 4, 3, 3), "float32")
    operands = xd(), x(), w, memory(3, 4, 3, 3), conv, raw.CUDNN_CONVOLUTION_FWD_ALGO_GEMM
    y = memory(1, 3, 8, 8)
    raw.cudnnConvolutionForward(h, 1, *operands, None, workspace, 0, xd((1, 3, 8, 8)), y)


NCHW, FLOAT, MAX = raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, raw.CUDNN_POOLING_MAX
SET_4D = raw.cudnnSetTensor4dDescriptor
WINOGRAD = raw.CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED
NAN = raw.CUDNN_PROPAGATE_NAN

# fmt: off
MISTAKES = {
    # layer 1
    "a data type is forgotten": (lambda h: SET_4D(xd(), NCHW, 1, 4, 8, 8), "lacks 'w'; is 'dataType' forgotten"),
    "format and data type are swapped": (lambda h: SET_4D(xd(), FLOAT, NCHW, 1, 4, 8, 8), "are 'format' and 'dataType' swapped"),
    "a descriptor was not created": (lambda h: SET_4D(raw.cudnnTensorDescriptor_t(), 0, 0, 1, 1, 1, 1), "raw.cudnnCreateTensorDescriptor has to create it first"),
    "a descriptor was not set": (lambda h: raw.cudnnSetTensor(h, new(), x(), 1.0), "before one of its cudnnSet .* yDesc was created, but never set"),
    "a descriptor is of another kind": (lambda h: raw.cudnnSetTensor(h, c.FilterDescriptor((3, 4, 3, 3), "float32"), x(), 1.0), "'yDesc' .*expected a cudnnTensorDescriptor_t, got .*FilterDescriptor"),
    "a descriptor is closed": (lambda h: raw.cudnnSetTensor(h, closed(xd()), x(), 1.0), "'yDesc' .*this TensorDescriptor is closed"),
    "a size is 0": (lambda h: xd((1, 0, 8, 8)), "every dimension must be at least 1.*c=0"),
    "a handle is forgotten": (lambda h: raw.cudnnSoftmaxForward(0, 0, 1, xd(), x(), 0, xd(), x()), r"lacks 'y'; is 'handle' forgotten\? It got 0.*it takes \(handle, algo"),
    "memory of another type": (lambda h: raw.cudnnSoftmaxForward(h, 0, 0, 1, xd(), x(np.float16), 0, xd(), None), "'x': float16 .* contradicts xDesc, which says CUDNN_DATA_FLOAT"),
    "memory of the host": (lambda h: raw.cudnnSetTensor(h, xd(), np.ones(256, "f"), 1.0), "'y' .*copy it with DeviceTensor.from_numpy"),
    "memory that is too small": (lambda h: raw.cudnnSetTensor(h, xd(), c.DeviceBuffer(16), 1.0), "'y': 16 bytes contradicts yDesc, .* 1024 bytes"),
    "memory that was freed": (lambda h: raw.cudnnSetTensor(h, xd(), freed(), 1.0), "y was freed: .*allocated at .*freed at"),
    "memory where its descriptor belongs": (lambda h: raw.cudnnSetTensor(h, x(), xd(), 1.0), "'yDesc' .*are 'yDesc' and 'y' swapped"),
    "a scalar of another type": (lambda h: raw.cudnnSetTensor(h, xd(), x(), c_int(1)), "'valuePtr': expected a float32, .* a plain Python number becomes it"),
    "a float that scales doubles": (lambda h: raw.cudnnScaleTensor(h, xd(dtype="float64"), x(np.float64), c_float(1)), "'alpha': expected a float64"),
    "an enumerator of another enum": (lambda h: raw.cudnnSetActivationDescriptor(c.ActivationDescriptor(), MAX, NAN, 0.0), "'mode' .*expected a cudnnActivationMode_t, got cudnnPoolingMode_t"),
    "a number where C writes one": (lambda h: raw.cudnnGetTensorSizeInBytes(xd(), 0), r"'size' .*expected a pointer to size_t: the object itself or byref\("),
    "no workspace": (lambda h: convolved_by_c(h, 0), "cudnnGetConvolutionForwardWorkspaceSize tells how many.*less than the 9216 bytes needed"),
    "a function's name is misspelt": (lambda h: raw.cudnnCreateTensorDescripter, "did you mean cudnnCreateTensorDescriptor"),
    "a function is gone": (lambda h: raw.cudnnGetConvolutionForwardAlgorithm, "gone since cuDNN 8.0: .*cudnnGetConvolutionForwardAlgorithm_v7.*compat.v7"),
    # layer 2
    "a data type is misspelt": (lambda h: xd(dtype="float23"), "no data type 'float23'. Did you mean 'float32'"),
    "a mode is misspelt": (lambda h: c.activation_forward(h, x(), "rellu"), "mode: expected one of .*did you mean 'relu'"),
    "a size is negative": (lambda h: xd((1, -4, 8, 8)), r"shape: expected no negative number, got \(1, -4"),
    "a shape of one dimension": (lambda h: c.softmax_forward(h, memory(4)), r"give a tensor of fewer dimensions ones .*\(1, n\)"),
    "an operand in host memory": (lambda h: c.activation_forward(h, np.ones((1, 4, 8, 8), "f"), "relu"), "x: host memory .*DeviceTensor.from_numpy"),
    "other channels": (lambda h: convolved(h, w=(3, 5, 3, 3)), r"x: it has 4 channels, but filters w \(3, 5, 3, 3\) .* need 5"),
    "image and filter are swapped": (lambda h: convolved(h, (3, 4, 3, 3), (1, 4, 8, 8)), "w: the filter reaches over 8 .*are they swapped"),
    "a filter larger than the image": (lambda h: convolved(h, (1, 4, 2, 2), (3, 4, 5, 5)), "w: the filter reaches over 5 .*the padded x has 4: "),
    "a stride of 0": (lambda h: convolved(h, stride=0), "strides, dilations and group counts must be at least 1"),
    "a result of another shape": (lambda h: convolved(h, y=x()), r"y: expected shape \(1, 3, 8, 8\), that of x .* got \(1, 4, 8, 8\)"),
    "Winograd with stride 2": (lambda h: convolved(h, stride=2, algorithm=WINOGRAD), r"stride and dilation 1; these are \(3, 3\), \(2, 2\)"),
    "bytes that are summed in float32": (lambda h: convolved(h, dtype="int8"), "int8 wants compute_data_type int32, NHWC"),
    "a window larger than the image": (lambda h: c.pooling_forward(h, x(), c.PoolingDescriptor(9)), r"x: the window reaches over 9 .*\(N, C, sizes\) is \(1, 4, 8, 8\)"),
    "a bias of other channels": (lambda h: c.add_tensor(h, memory(1, 5, 1, 1), x()), r"a: expected the shape of c, \(1, 4, 8, 8\), with ones"),
    "a rate above 1": (lambda h: c.DropoutDescriptor(h, 1.5), "rate: expected a number from 0 to 1, got 1.5"),
    "the handle is forgotten": (lambda h: c.softmax_forward(x()), r"it takes \(handle, x\); is 'handle' forgotten\? It got <DeviceTensor"),
    "operands of a gradient by position": (lambda h: c.activation_backward(h, "relu", x(), x(), x()), r"too many positional .*it takes \(handle, activation, y=, dy=, x=\)"),
    "an operand of a gradient is forgotten": (lambda h: c.activation_backward(h, "relu", y=x(), dy=x()), "missing .*'x'; it takes .* x="),
    # layer 3
    "a graph without data types": (lambda h: Product(compute_data_type="float32").graph.build(h), "'a' has no data type: give it one, or give the graph an io_data_type"),
    "inner sizes that differ": (lambda h: Product(b=(1, 5, 4)).graph.build(h), r"A 'a' \(1, 4, 4\) and B 'b' \(1, 5, 4\) must be \(…, m, k\) and \(…, k, n\)"),
    "a graph without output": (lambda h: Product(output=False).graph.build(h), r"neither used nor an output: call its set_output\(\)"),
    "a graph that is not built": (lambda h: Product().run(h, build=False, a=memory(1, 4, 4)), r"is not built; call its build\(\)"),
    "an operation's name is misspelt": (lambda h: c.Graph().matmull, "did you mean 'matmul'"),
    "a GPU that is not known": (lambda h: Product().graph.build("H300"), "no preset for 'H300'; did you mean 'h200' .*--save-device"),
    "a tensor's name is misspelt": (lambda h: Product().run(h, aa=memory(1, 4, 4)), r"no tensor with memory is called 'aa'; there are 'a' \(uid 1\), 'b'"),
    "a plan without tensors": (lambda h: Product().graph.build(h).execute(h, {}), r"'a' \(uid 1\), 'b' \(uid 2\), 'product' \(uid 3\)"),
    "float16 for float32 in a graph": (lambda h: Product().run(h, a=memory(1, 4, 4, dtype="f2")), "'a' .* is float32 .*, got float16"),
    "another shape in a graph": (lambda h: Product().run(h, a=memory(1, 4, 5)), r"'a' \(1, 4, 4\) is .*got float32 \(1, 4, 5\)"),
    "an attribute's name is misspelt": (lambda h: c.BackendDescriptor("tensor").set("dimension", (4,)), "no attribute 'dimension'; did you mean 'dimensions'"),
    "an attribute that is not finalized": (lambda h: c.BackendDescriptor("operation_matmul").set("adesc", c.BackendDescriptor("tensor")), r"adesc: this tensor is not finalized; call its finalize\(\) first"),
}
# fmt: on


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_message_mends_it(mistake):
    make, words = MISTAKES[mistake]
    with c.use_reference_device(), c.Handle() as handle:
        with pytest.raises(Exception, match=f"(?si){words}") as raised:
            make(handle)
        assert len(str(raised.value)) < 1600


def test_a_class_whose_name_is_misspelt_is_suggested():
    done = run_program("import cudnn_ctypes; cudnn_ctypes.TensorDiscriptor", check=False)
    assert "Did you mean: 'TensorDescriptor'" in done.stderr
