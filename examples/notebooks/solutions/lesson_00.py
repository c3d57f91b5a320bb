"""Solutions of lesson 0: words and calls."""

from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    activation_forward,
    raw,
    use_reference_device,
)

use_reference_device()
handle = Handle()


def order():
    """A call needs the handle, descriptors that are set, and memory.

    Memory may be allocated at any time before the launch. What is read must be computed
    first.
    """
    return [
        "create the handle",
        "create the descriptors",
        "set the descriptors",
        "allocate x and y",
        "launch",
        "copy y to the host",
        "destroy the descriptors",
        "destroy the handle",
    ]


def relu_of(values):
    """The function describes x and y by itself; `.numpy()` copies y to the host."""
    return activation_forward(handle, DeviceTensor.from_numpy(values), "relu").numpy()


def sigmoid_of(values):
    """Two descriptors are created, so two are destroyed."""
    x, y = DeviceTensor.from_numpy(values), DeviceTensor.empty(values.shape, "float32")
    of_x, sigmoid = raw.cudnnTensorDescriptor_t(), raw.cudnnActivationDescriptor_t()
    raw.cudnnCreateTensorDescriptor(of_x)
    raw.cudnnSetTensor4dDescriptor(
        of_x, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, *values.shape
    )
    raw.cudnnCreateActivationDescriptor(sigmoid)
    raw.cudnnSetActivationDescriptor(
        sigmoid, raw.CUDNN_ACTIVATION_SIGMOID, raw.CUDNN_PROPAGATE_NAN, 0.0
    )
    raw.cudnnActivationForward(handle, sigmoid, 1.0, of_x, x, 0.0, of_x, y)
    raw.cudnnDestroyTensorDescriptor(of_x)
    raw.cudnnDestroyActivationDescriptor(sigmoid)
    return y.numpy()
