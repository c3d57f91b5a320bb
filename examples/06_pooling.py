"""Pooling: the largest, or the mean, of each window of an image; in raw calls, then by classes.

Two things that surprise: whether the places of a window beyond the image count in the mean, and
where the gradient goes: that of a maximum all to the pixel that was the largest.
"""

from ctypes import c_float, c_int

import numpy as np

from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    PoolingDescriptor,
    pooling_backward,
    pooling_forward,
    raw,
)

image = np.array([[1, 2, 0, 1], [5, 3, 1, 4], [0, 1, 9, 2], [2, 1, 3, 8]], np.float32)[None, None]
print(f"x, an image of 4 x 4:\n{image[0, 0].astype(int)}")

# cudnnHandle_t cudnn;
# CHECK(cudnnCreate(&cudnn));
cudnn = raw.cudnnHandle_t()
raw.cudnnCreate(cudnn)

# cudnnPoolingDescriptor_t pool;
# CHECK(cudnnCreatePoolingDescriptor(&pool));
# CHECK(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN,
#                                   2, 2,    /* window */
#                                   0, 0,    /* padding */
#                                   2, 2));  /* stride */
pool = raw.cudnnPoolingDescriptor_t()
raw.cudnnCreatePoolingDescriptor(pool)
raw.cudnnSetPooling2dDescriptor(
    pool, raw.CUDNN_POOLING_MAX, raw.CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2
)

# cudnnTensorDescriptor_t x_desc, y_desc;
# CHECK(cudnnCreateTensorDescriptor(&x_desc));
# CHECK(cudnnSetTensor4dDescriptor(x_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 4, 4));
x_desc, y_desc = raw.cudnnTensorDescriptor_t(), raw.cudnnTensorDescriptor_t()
raw.cudnnCreateTensorDescriptor(x_desc)
raw.cudnnSetTensor4dDescriptor(x_desc, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 1, 1, 4, 4)

# int n, c, h, w;
# CHECK(cudnnGetPooling2dForwardOutputDim(pool, x_desc, &n, &c, &h, &w));
# CHECK(cudnnCreateTensorDescriptor(&y_desc));
# CHECK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));
n, c, h, w = c_int(), c_int(), c_int(), c_int()
raw.cudnnGetPooling2dForwardOutputDim(pool, x_desc, n, c, h, w)
raw.cudnnCreateTensorDescriptor(y_desc)
raw.cudnnSetTensor4dDescriptor(y_desc, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, n, c, h, w)

# float *x, *y, alpha = 1, beta = 0;
# cudaMalloc((void **)&x, 16 * sizeof(float));    /* and cudaMemcpy of the image into it */
# cudaMalloc((void **)&y, 4 * sizeof(float));
# CHECK(cudnnPoolingForward(cudnn, pool, &alpha, x_desc, x, &beta, y_desc, y));
x = DeviceTensor.from_numpy(image)
y = DeviceTensor.empty((n.value, c.value, h.value, w.value), "float32")
alpha, beta = c_float(1), c_float(0)
raw.cudnnPoolingForward(cudnn, pool, alpha, x_desc, x, beta, y_desc, y)
print(f"\nmaxima of windows of 2 x 2 that touch each other:\n{y.numpy()[0, 0].astype(int)}")
assert y.numpy()[0, 0].tolist() == [[5, 4], [2, 9]]

# CHECK(cudnnDestroyTensorDescriptor(y_desc));
# CHECK(cudnnDestroyTensorDescriptor(x_desc));
# CHECK(cudnnDestroyPoolingDescriptor(pool));
# CHECK(cudnnDestroy(cudnn));
raw.cudnnDestroyTensorDescriptor(y_desc)
raw.cudnnDestroyTensorDescriptor(x_desc)
raw.cudnnDestroyPoolingDescriptor(pool)
raw.cudnnDestroy(cudnn)

with Handle() as handle, PoolingDescriptor(2) as maximum:
    print(f"\nthe same by classes: {maximum}")
    assert pooling_forward(handle, x, maximum).numpy().tolist() == y.numpy().tolist()

    dy = DeviceTensor.from_numpy(np.array([[10, 20], [30, 40]], np.float32)[None, None])
    dx = pooling_backward(handle, maximum, y=y, dy=dy, x=x).numpy()[0, 0]
    print(f"\ndy = 10, 20, 30, 40 goes back to the pixels that were the largest:\n{dx.astype(int)}")
    assert dx[1, 0] == 10
    assert np.count_nonzero(dx) == 4

    print("\nmeans of windows of 3 x 3 with padding 1; in the corner 4 pixels of 9 are there:")
    for mode in ("average_count_include_padding", "average_count_exclude_padding"):
        with PoolingDescriptor(3, padding=1, stride=1, mode=mode) as mean:
            corner = pooling_forward(handle, x, mean).numpy()[0, 0, 0, 0]
        print(f"  {mode}: (1 + 2 + 5 + 3) / {11 / corner:.0f} = {corner:.3f}")
