"""One mistake a line. Both type checkers must refuse each line marked, and no other."""

from ctypes import byref, c_bool, c_double, c_float, c_int, c_int64, c_size_t, c_void_p

import numpy as np

from cudnn_ctypes import (
    BackendDescriptor,
    ConvolutionDescriptor,
    DeviceBuffer,
    FilterDescriptor,
    Handle,
    TensorDescriptor,
    raw,
)

handle = raw.cudnnHandle_t()
x, y = raw.cudnnTensorDescriptor_t(), raw.cudnnTensorDescriptor_t()
w = raw.cudnnFilterDescriptor_t()
conv = raw.cudnnConvolutionDescriptor_t()
nchw, single = raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT
algo = raw.CUDNN_CONVOLUTION_FWD_ALGO_GEMM
size, n = c_size_t(), c_int()
one, zero = c_float(1), c_float(0)
owner, owned_x, owned_w = Handle(), TensorDescriptor(), FilterDescriptor()
owned_conv = ConvolutionDescriptor()
backend = BackendDescriptor("tensor")
buffer = DeviceBuffer(64)
four, floats = (c_int * 4)(), np.ones(4, np.float32)

# arity and names
raw.cudnnCreate()  # expect
raw.cudnnCreate(handle, handle)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, single, 1, 2, 3)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, single, 1, 2, 3, 4, 5)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, dataTyp=single, n=1, c=2, h=3, w=4)  # expect
raw.cudnnGetVersion(1)  # expect
raw.cudnnCreateTensorDescriptr(x)  # expect
raw.cudnnCreate.uncheked(handle)  # expect
raw.CUDNN_DATA_FLAOT  # expect
raw.cudnnTensorDescripto_t()  # expect

# handles and descriptors
raw.cudnnSetTensor4dDescriptor(w, nchw, single, 1, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(handle, nchw, single, 1, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(4096, nchw, single, 1, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(c_void_p(), nchw, single, 1, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(byref(x), nchw, single, 1, 2, 3, 4)  # expect
raw.cudnnGetConvolution2dForwardOutputDim(conv, w, x, n, n, n, n)  # expect
raw.cudnnDestroy(x)  # expect
raw.cudnnDestroy(None)  # expect
raw.cudnnSetTensor4dDescriptor(None, nchw, single, 1, 2, 3, 4)  # expect
raw.cudnnGetTensorSizeInBytes(None, size)  # expect
raw.cudnnGetConvolution2dForwardOutputDim(conv, None, w, n, n, n, n)  # expect
raw.cudnnBackendFinalize(None)  # expect
raw.cudnnSetStream(handle, "0")  # expect
raw.cudnnBackendFinalize(x)  # expect

# objects of layers 2 and 3
raw.cudnnGetTensorSizeInBytes(owned_w, size)  # expect
raw.cudnnGetTensorSizeInBytes(owner, size)  # expect
raw.cudnnGetTensorSizeInBytes(buffer, size)  # expect
raw.cudnnSetStream(owned_x, None)  # expect
raw.cudnnBackendFinalize(owned_conv)  # expect
raw.cudnnGetConvolutionGroupCount(backend, n)  # expect
raw.cudnnCreateTensorDescriptor(owned_x)  # expect

# enums
raw.cudnnSetTensor4dDescriptor(x, single, nchw, 1, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, raw.CUDNN_CONVOLUTION, 1, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, 0, 1, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, "float32", 1, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, np.float32, 1, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, raw.cudnnTensorFormat_t(), 1, 2, 3, 4)  # expect

# numbers
raw.cudnnSetTensor4dDescriptor(x, nchw, single, 1.0, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, single, "1", 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, single, None, 2, 3, 4)  # expect
raw.cudnnSetTensor4dDescriptor(x, nchw, single, c_float(1), 2, 3, 4)  # expect
raw.cudnnSetConvolutionGroupCount(conv, [1])  # expect
raw.cudnnSetActivationDescriptorSwishBeta(raw.cudnnActivationDescriptor_t(), "1")  # expect

# arrays
raw.cudnnSetTensorNdDescriptor(x, single, 4, ["1", "2"], four)  # expect
raw.cudnnSetTensorNdDescriptor(x, single, 4, [1.5, 2.5], four)  # expect
raw.cudnnSetTensorNdDescriptor(x, single, 4, 24, four)  # expect
raw.cudnnSetTensorNdDescriptor(x, single, 4, "1234", four)  # expect
raw.cudnnSetTensorNdDescriptor(x, single, 4, (c_int64 * 4)(), four)  # expect
raw.cudnnSetTensorNdDescriptor(x, single, 4, {1, 2, 3, 4}, four)  # expect
raw.cudnnSetTensorNdDescriptor(x, single, 4, floats, four)  # expect
raw.cudnnGetTensorNdDescriptor(x, 4, raw.cudnnDataType_t(), n, [0, 0, 0, 0], four)  # expect
raw.cudnnGetTensorNdDescriptor(x, 4, raw.cudnnDataType_t(), n, (c_int64 * 4)(), four)  # expect

# what C fills
raw.cudnnGetTensorSizeInBytes(x, 0)  # expect
raw.cudnnGetTensorSizeInBytes(x, n)  # expect
raw.cudnnGetTensorSizeInBytes(x, c_size_t)  # expect
raw.cudnnGetTensor4dDescriptor(x, raw.cudnnTensorFormat_t(), n, n, n, n, n, n, n, n)  # expect
raw.cudnnGetTensor4dDescriptor(x, raw.CUDNN_DATA_FLOAT, n, n, n, n, n, n, n, n)  # expect
raw.cudnnGetConvolutionGroupCount(conv, size)  # expect
raw.cudnnCreateTensorDescriptor(w)  # expect
raw.cudnnCreateTensorDescriptor(None)  # expect
rows, others = [raw.cudnnConvolutionFwdAlgoPerf_t()], (raw.cudnnConvolutionBwdDataAlgoPerf_t * 8)()
raw.cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, conv, y, 8, n, rows)  # expect
raw.cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, conv, y, 8, n, others)  # expect

# memory and host scalars
raw.cudnnAddTensor(handle, one, x, "memory", zero, y, buffer)  # expect
raw.cudnnAddTensor(handle, one, x, [1.0, 2.0], zero, y, buffer)  # expect
raw.cudnnAddTensor(handle, one, x, 1.5, zero, y, buffer)  # expect
raw.cudnnAddTensor(handle, one, x, floats, zero, y, buffer)  # expect
raw.cudnnAddTensor(handle, one, x, owned_x, zero, y, buffer)  # expect
raw.cudnnAddTensor(handle, one, x, x, zero, y, buffer)  # expect
raw.cudnnAddTensor(handle, "1", x, buffer, zero, y, buffer)  # expect
raw.cudnnAddTensor(handle, [1.0], x, buffer, zero, y, buffer)  # expect
raw.cudnnAddTensor(handle, c_bool(True), x, buffer, zero, y, buffer)  # expect

# results and facts
raw.cudnnGetErrorString(raw.CUDNN_STATUS_SUCCESS).decode()  # expect
raw.cudnnGetVersion().value  # expect
raw.cudnnCreate.unchecked(handle).value.name  # expect
raw.cudnnCreate.unchecked(x)  # expect
text: str = raw.cudnnCreate.unchecked(handle)  # expect
raw.cudnnCreate.prototype()  # expect
raw.cudnnCreate.parameters[0].nam  # expect
since: float = raw.cudnnCreate.since  # expect
raw.cudnnDataType_t().name  # expect
raw.cudnnDataType_t().value = "float32"  # expect
(raw.cudnnSeqDataAxis_t * 4)()[0].valu  # expect
memory: str = raw.cudnnConvolutionFwdAlgoPerf_t().memory  # expect
kind: raw.cudnnDataType_t = raw.cudnnConvolutionFwdAlgoPerf_t().status  # expect
double: c_double = handle.value  # expect
