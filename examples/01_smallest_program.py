"""The smallest cuDNN program: describe a convolution, ask which algorithm to use.

Call by call in `raw`, with the C line above each Python line. C's `&x` is `x` or `byref(x)`; the
CHECK macro around every C call is not needed, since a status other than success raises.
"""

from ctypes import c_int

from cudnn_ctypes import raw

# cudnnHandle_t cudnn;
# CHECK(cudnnCreate(&cudnn));
cudnn = raw.cudnnHandle_t()
raw.cudnnCreate(cudnn)

# cudnnTensorDescriptor_t x_desc;
# CHECK(cudnnCreateTensorDescriptor(&x_desc));
# CHECK(cudnnSetTensor4dDescriptor(x_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 224, 224));
x_desc = raw.cudnnTensorDescriptor_t()
raw.cudnnCreateTensorDescriptor(x_desc)
raw.cudnnSetTensor4dDescriptor(x_desc, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 1, 3, 224, 224)

# cudnnFilterDescriptor_t w_desc;
# CHECK(cudnnCreateFilterDescriptor(&w_desc));
# CHECK(cudnnSetFilter4dDescriptor(w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 64, 3, 7, 7));
w_desc = raw.cudnnFilterDescriptor_t()
raw.cudnnCreateFilterDescriptor(w_desc)
# The data type comes first here, and the format first in cudnnSetTensor4dDescriptor. In C, swapping
# them goes unnoticed, since both are 0; here it is a TypeError.
raw.cudnnSetFilter4dDescriptor(w_desc, raw.CUDNN_DATA_FLOAT, raw.CUDNN_TENSOR_NCHW, 64, 3, 7, 7)

# cudnnConvolutionDescriptor_t conv_desc;
# CHECK(cudnnCreateConvolutionDescriptor(&conv_desc));
# CHECK(cudnnSetConvolution2dDescriptor(conv_desc, 3, 3, 2, 2, 1, 1, CUDNN_CROSS_CORRELATION,
#                                       CUDNN_DATA_FLOAT));
conv_desc = raw.cudnnConvolutionDescriptor_t()
raw.cudnnCreateConvolutionDescriptor(conv_desc)
raw.cudnnSetConvolution2dDescriptor(
    conv_desc, 3, 3, 2, 2, 1, 1, raw.CUDNN_CROSS_CORRELATION, raw.CUDNN_DATA_FLOAT
)

# int n, c, h, w;
# CHECK(cudnnGetConvolution2dForwardOutputDim(conv_desc, x_desc, w_desc, &n, &c, &h, &w));
n, c, h, w = c_int(), c_int(), c_int(), c_int()
raw.cudnnGetConvolution2dForwardOutputDim(conv_desc, x_desc, w_desc, n, c, h, w)
print(f"output: {n.value} x {c.value} x {h.value} x {w.value}")

# cudnnTensorDescriptor_t y_desc;
# CHECK(cudnnCreateTensorDescriptor(&y_desc));
# CHECK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));
y_desc = raw.cudnnTensorDescriptor_t()
raw.cudnnCreateTensorDescriptor(y_desc)
raw.cudnnSetTensor4dDescriptor(y_desc, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, n, c, h, w)

# Up to cuDNN 7 a program asked for one algorithm, with a preference:
#   cudnnConvolutionFwdAlgo_t algo;
#   cudnnGetConvolutionForwardAlgorithm(cudnn, x_desc, w_desc, conv_desc, y_desc,
#                                       CUDNN_CONVOLUTION_FWD_PREFER_FASTEST, 0, &algo);
# cuDNN 9 has no such function. `_v7` gives a list, best first, with a status for each entry; it
# measures nothing, so its `time` is -1.
#
# cudnnConvolutionFwdAlgoPerf_t perf[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
# int returned;
# CHECK(cudnnGetConvolutionForwardAlgorithm_v7(cudnn, x_desc, w_desc, conv_desc, y_desc,
#                                              CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &returned, perf));
count = raw.CUDNN_CONVOLUTION_FWD_ALGO_COUNT
perf = (raw.cudnnConvolutionFwdAlgoPerf_t * count)()
returned = c_int()
raw.cudnnGetConvolutionForwardAlgorithm_v7(
    cudnn, x_desc, w_desc, conv_desc, y_desc, count, returned, perf
)
for row in perf[: returned.value]:
    print(f"{row.algo.name:55} {row.status.name:45} {row.memory:>12} bytes")

# The first entry that works and fits into the memory that we can give it.
memory_limit = 64 << 20
algorithm = next(
    row.algo
    for row in perf[: returned.value]
    if row.status == raw.CUDNN_STATUS_SUCCESS and row.memory <= memory_limit
)
print(f"chosen: {algorithm.name}")

# CHECK(cudnnDestroyTensorDescriptor(y_desc));
# CHECK(cudnnDestroyConvolutionDescriptor(conv_desc));
# CHECK(cudnnDestroyFilterDescriptor(w_desc));
# CHECK(cudnnDestroyTensorDescriptor(x_desc));
# CHECK(cudnnDestroy(cudnn));
raw.cudnnDestroyTensorDescriptor(y_desc)
raw.cudnnDestroyConvolutionDescriptor(conv_desc)
raw.cudnnDestroyFilterDescriptor(w_desc)
raw.cudnnDestroyTensorDescriptor(x_desc)
raw.cudnnDestroy(cudnn)
