"""Calls as one writes them, with every kind of argument. Both type checkers must accept all."""

from ctypes import (
    POINTER,
    byref,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_void_p,
    cast,
    create_string_buffer,
    pointer,
)

import numpy as np

from cudnn_ctypes import (
    BackendDescriptor,
    ConvolutionDescriptor,
    DeviceBuffer,
    DeviceTensor,
    FilterDescriptor,
    Handle,
    TensorDescriptor,
    raw,
)
from cudnn_ctypes.raw.argument_types import DeviceMemory

handle = raw.cudnnHandle_t()
raw.cudnnCreate(handle)
x, y = raw.cudnnTensorDescriptor_t(), raw.cudnnTensorDescriptor_t()
w = raw.cudnnFilterDescriptor_t()
conv = raw.cudnnConvolutionDescriptor_t()
raw.cudnnCreateTensorDescriptor(x)
raw.cudnnCreateTensorDescriptor(byref(y))
raw.cudnnCreateFilterDescriptor(pointer(w))

# enums and numbers
nchw, single = raw.CUDNN_TENSOR_NCHW, raw.cudnnDataType_t.CUDNN_DATA_FLOAT
variable = raw.cudnnDataType_t()
variable.value = raw.CUDNN_DATA_HALF
half: raw.cudnnDataType_t = variable.value
raw.cudnnSetTensor4dDescriptor(x, nchw, variable, 1, c_int(2), np.int64(3), True)
raw.cudnnSetTensor4dDescriptor(x, format=nchw, dataType=raw.cudnnDataType_t(2), n=1, c=2, h=3, w=4)
raw.cudnnSetConvolutionGroupCount(conv, raw.CUDNN_CONVOLUTION_FWD_ALGO_COUNT)
activation = raw.cudnnActivationDescriptor_t()
for slope in (1, 1.5, np.float32(1), c_double(1)):
    raw.cudnnSetActivationDescriptorSwishBeta(activation, slope)

# arrays
raw.cudnnSetTensorNdDescriptor(x, single, 4, [np.int64(1), c_int(2), 3, 4], (24, 12, 4, 1))
for dims in ([1, 2, 3, 4], (1, 2, 3, 4), range(1, 5)):
    raw.cudnnSetTensorNdDescriptor(x, single, 4, dims, [24, 12, 4, 1])
raw.cudnnSetTensorNdDescriptor(x, single, 4, (c_int * 4)(1, 2, 3, 4), np.array([24, 12, 4, 1]))
raw.cudnnSetTensorNdDescriptor(x, single, 4, cast((c_int * 4)(), POINTER(c_int)), byref(c_int()))
count, read = c_int(), np.empty(4, np.int32)
raw.cudnnGetTensorNdDescriptor(x, 4, variable, count, (c_int * 4)(), read)
axes = (raw.cudnnSeqDataAxis_t * 4)()
axes[0] = raw.CUDNN_SEQDATA_BEAM_DIM
first: raw.cudnnSeqDataAxis_t = axes[0]
order: list[raw.cudnnSeqDataAxis_t] = [first, *axes[1:]]
sequence = raw.cudnnSeqDataDescriptor_t()
for given in (order, axes):
    raw.cudnnSetSeqDataDescriptor(sequence, single, 4, [1] * 4, given, 2, [5, 4], None)
raw.cudnnGetSeqDataDescriptor(
    sequence, byref(variable), count, 4, (c_int * 4)(), axes, c_size_t(), 0, None, None
)
raw.cudnnGetLastErrorString(create_string_buffer(64), 64)

# what C fills
size = c_size_t()
n, c, h, width = (c_int() for _ in range(4))
raw.cudnnGetConvolution2dForwardOutputDim(conv, x, w, n, byref(c), pointer(h), width)
for out in (size, byref(size), pointer(size)):
    raw.cudnnGetTensorSizeInBytes(x, out)
nbytes: int = size.value
perf = (raw.cudnnConvolutionFwdAlgoPerf_t * 8)()
raw.cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, conv, y, 8, count, perf)
single_row = raw.cudnnConvolutionFwdAlgoPerf_t()
raw.cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, conv, y, 1, count, byref(single_row))
raw.cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, conv, y, 1, count, single_row)
best: raw.cudnnConvolutionFwdAlgo_t = single_row.algo
milliseconds: float = single_row.time
needed: int = single_row.memory
stream = raw.cudaStream_t()
raw.cudnnGetStream(handle, stream)
raw.cudnnSetStream(handle, stream)
raw.cudnnSetStream(handle, None)
raw.cudnnSetStream(handle, 0)

# objects of layers 2 and 3, memory, host scalars
with Handle() as owner, TensorDescriptor((1, 2, 3, 4)) as tensor, DeviceBuffer(96) as buffer:
    owned: raw.cudnnHandle_t = owner._as_parameter_  # pyright: ignore[reportPrivateUsage]
    raw.cudnnGetTensorSizeInBytes(tensor, size)
    raw.cudnnSetTensor4dDescriptor(tensor, nchw, single, 1, 2, 3, 4)
    values = DeviceTensor.from_numpy(np.ones((1, 2, 3, 4), np.float32))
    memories: list[DeviceMemory] = [buffer, values, 4096, c_void_p(), None]
    for memory in memories:
        for number in (c_float(1), byref(c_float(1)), np.float32(1), np.ones(1, "float32"), 1.0, 1):
            raw.cudnnAddTensor(owner, number, tensor, memory, c_float(0), y, memory)
with ConvolutionDescriptor(padding=1) as owned_conv, FilterDescriptor() as owned_w:
    raw.cudnnGetConvolutionGroupCount(owned_conv, n)
    raw.cudnnDestroyFilterDescriptor(w)
    raw.cudnnGetFilterSizeInBytes(owned_w, size)
backend = BackendDescriptor("tensor")
raw.cudnnBackendSetAttribute(
    backend, raw.CUDNN_ATTR_TENSOR_DIMENSIONS, raw.CUDNN_TYPE_INT64, 4, (c_int64 * 4)(1, 2, 3, 4)
)
raw.cudnnBackendGetAttribute(
    backend, raw.CUDNN_ATTR_TENSOR_UNIQUE_ID, raw.CUDNN_TYPE_INT64, 1, c_int64(), byref(c_int64())
)
rnn = raw.cudnnRNNDescriptor_t()
seen: list[str] = []


def receive(severity: int, user_data: object, debug: object, message: bytes) -> None:
    seen.append(f"{severity} {message.decode()}")


raw.cudnnSetCallback(1 << raw.CUDNN_SEV_ERROR, None, raw.cudnnCallback_t(receive))

# results and facts
status: raw.cudnnStatus_t = raw.cudnnCreate.unchecked(handle)
known: bool = status.known
version: int = raw.cudnnGetVersion()
text: str = raw.cudnnGetErrorString(status)
nothing: None = raw.cudnnGetLastErrorString(create_string_buffer(64), 64)
prototype: str = raw.cudnnCreate.prototype
directions: list[str] = [p.direction for p in raw.cudnnCreate.unchecked.parameters]
facts: tuple[str, str, bool] = (
    raw.cudnnCreate.header,
    raw.cudnnCreate.since,
    raw.cudnnCreate.deprecated,
)
functions: dict[str, raw.Function] = raw.FUNCTIONS
raw.FUNCTIONS["cudnnCreate"](handle)
lengths: c_int32 = c_int32()
