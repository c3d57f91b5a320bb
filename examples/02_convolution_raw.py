"""A convolution that fits on paper, in raw calls: a 4x4 image, a 3x3 kernel, padding 1.

With the C of each step above it; memory and copies are CUDA's there, and DeviceTensors' here.
"""

from ctypes import byref, c_float, c_size_t

import numpy as np

from cudnn_ctypes import DeviceBuffer, DeviceTensor, raw

image = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
kernel = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
padded = np.pad(image[0, 0], 1)
on_paper = [
    [float((padded[i : i + 3, j : j + 3] * kernel[0, 0]).sum()) for j in range(4)] for i in range(4)
]

# cudnnHandle_t handle;
# cudnnTensorDescriptor_t x_desc, y_desc;
# cudnnFilterDescriptor_t w_desc;
# cudnnConvolutionDescriptor_t conv_desc;
# CHECK(cudnnCreate(&handle));
# CHECK(cudnnCreateTensorDescriptor(&x_desc));
# CHECK(cudnnCreateTensorDescriptor(&y_desc));
# CHECK(cudnnCreateFilterDescriptor(&w_desc));
# CHECK(cudnnCreateConvolutionDescriptor(&conv_desc));
handle = raw.cudnnHandle_t()
x_desc = raw.cudnnTensorDescriptor_t()
y_desc = raw.cudnnTensorDescriptor_t()
w_desc = raw.cudnnFilterDescriptor_t()
conv_desc = raw.cudnnConvolutionDescriptor_t()
raw.cudnnCreate(handle)
raw.cudnnCreateTensorDescriptor(x_desc)
raw.cudnnCreateTensorDescriptor(y_desc)
raw.cudnnCreateFilterDescriptor(w_desc)
raw.cudnnCreateConvolutionDescriptor(conv_desc)

# CHECK(cudnnSetTensor4dDescriptor(x_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 4, 4));
# CHECK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 4, 4));
# CHECK(cudnnSetFilter4dDescriptor(w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 3, 3));
# CHECK(cudnnSetConvolution2dDescriptor(conv_desc,
#     1, 1,    /* padding */
#     1, 1,    /* stride */
#     1, 1,    /* dilation */
#     CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
nchw, float32 = raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT
raw.cudnnSetTensor4dDescriptor(x_desc, nchw, float32, 1, 1, 4, 4)
raw.cudnnSetTensor4dDescriptor(y_desc, nchw, float32, 1, 1, 4, 4)
raw.cudnnSetFilter4dDescriptor(w_desc, float32, nchw, 1, 1, 3, 3)
# Cross-correlation slides the kernel as it is; CUDNN_CONVOLUTION would turn it by 180 degrees.
raw.cudnnSetConvolution2dDescriptor(
    conv_desc, 1, 1, 1, 1, 1, 1, raw.CUDNN_CROSS_CORRELATION, float32
)

# float *x, *w, *y;
# cudaMalloc((void **)&x, 16 * sizeof(float));    /* and cudaMemcpy of the image into it */
# cudaMalloc((void **)&w, 9 * sizeof(float));
# cudaMalloc((void **)&y, 16 * sizeof(float));
x = DeviceTensor.from_numpy(image)
w = DeviceTensor.from_numpy(kernel)
y = DeviceTensor.full((1, 1, 4, 4), np.nan, "float32")  # beta = 0: what was in y does not matter

# size_t size;
# void *workspace;
# cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
# CHECK(cudnnGetConvolutionForwardWorkspaceSize(handle, x_desc, w_desc, conv_desc, y_desc,
#                                               algorithm, &size));
# cudaMalloc(&workspace, size);
algorithm = raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM
size = c_size_t()
raw.cudnnGetConvolutionForwardWorkspaceSize(
    handle, x_desc, w_desc, conv_desc, y_desc, algorithm, size
)
workspace = DeviceBuffer(size.value)

# y = alpha * conv(x, w) + beta * y, with alpha and beta passed by address, as in C.
#
# float alpha = 1, beta = 0;
# CHECK(cudnnConvolutionForward(handle, &alpha, x_desc, x, w_desc, w, conv_desc, algorithm,
#                               workspace, size, &beta, y_desc, y));
alpha, beta = c_float(1), c_float(0)
raw.cudnnConvolutionForward(
    handle,
    byref(alpha),
    x_desc,
    x,
    w_desc,
    w,
    conv_desc,
    algorithm,
    workspace,
    size.value,
    byref(beta),
    y_desc,
    y,
)
result = y.numpy()[0, 0]
print(result.astype(int))
assert np.allclose(result, on_paper, rtol=2e-3), on_paper  # TF32 keeps 10 bits

# cudaFree(workspace);    /* and x, w, y */
for memory in (workspace, x, w, y):
    memory.close()

# CHECK(cudnnDestroyConvolutionDescriptor(conv_desc));
# CHECK(cudnnDestroyFilterDescriptor(w_desc));
# CHECK(cudnnDestroyTensorDescriptor(y_desc));
# CHECK(cudnnDestroyTensorDescriptor(x_desc));
# CHECK(cudnnDestroy(handle));
raw.cudnnDestroyConvolutionDescriptor(conv_desc)
raw.cudnnDestroyFilterDescriptor(w_desc)
raw.cudnnDestroyTensorDescriptor(y_desc)
raw.cudnnDestroyTensorDescriptor(x_desc)
raw.cudnnDestroy(handle)
