"""Softmax: from scores to probabilities; in raw calls, then by classes.

y = exp(x) / sum of exp(x). Three algorithms and two modes: what overflows, what the logarithm is
for, and over which axes the sum runs.
"""

from ctypes import c_float

import numpy as np

from cudnn_ctypes import DeviceTensor, Handle, raw, softmax_backward, softmax_forward

scores = np.array([[1, 2, 3], [1, 2, 200]], np.float32).reshape(2, 3, 1, 1)
print(f"x, the scores of 3 classes for 2 samples:\n{scores[:, :, 0, 0]}")

# cudnnHandle_t cudnn;
# cudnnTensorDescriptor_t desc;
# CHECK(cudnnCreate(&cudnn));
# CHECK(cudnnCreateTensorDescriptor(&desc));
# CHECK(cudnnSetTensor4dDescriptor(desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 3, 1, 1));
cudnn, desc = raw.cudnnHandle_t(), raw.cudnnTensorDescriptor_t()
raw.cudnnCreate(cudnn)
raw.cudnnCreateTensorDescriptor(desc)
raw.cudnnSetTensor4dDescriptor(desc, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 2, 3, 1, 1)

# float *x, *y, alpha = 1, beta = 0;
# cudaMalloc((void **)&x, 6 * sizeof(float));
# cudaMalloc((void **)&y, 6 * sizeof(float));
# CHECK(cudnnSoftmaxForward(cudnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL,
#                           &alpha, desc, x, &beta, desc, y));
x, y = DeviceTensor.from_numpy(scores), DeviceTensor.empty(scores.shape, "float32")
alpha, beta = c_float(1), c_float(0)
raw.cudnnSoftmaxForward(
    cudnn,
    raw.CUDNN_SOFTMAX_ACCURATE,
    raw.CUDNN_SOFTMAX_MODE_CHANNEL,
    alpha,
    desc,
    x,
    beta,
    desc,
    y,
)
print(f"\naccurate, which subtracts the largest score first:\n{y.numpy()[:, :, 0, 0].round(4)}")

# CHECK(cudnnDestroyTensorDescriptor(desc));
# CHECK(cudnnDestroy(cudnn));
raw.cudnnDestroyTensorDescriptor(desc)
raw.cudnnDestroy(cudnn)

with Handle() as handle:
    fast = softmax_forward(handle, x, algorithm="fast").numpy()[:, :, 0, 0]
    print(f"\nfast, as the formula says; exp(200) is more than float32 holds:\n{fast.round(4)}")
    assert np.isnan(fast[1, 2])

    log = softmax_forward(handle, x, algorithm="log").numpy()[:, :, 0, 0]
    print(f"\nlog, exact where the probability itself is rounded to 0:\n{log.round(4)}")
    assert np.allclose(log[1], [-199, -198, 0])

    # The loss of a classifier is -log y[label]. Its gradient by log y is -1 at the label, and
    # backward makes of it what everybody writes down by hand: y - one_hot(label).
    label = np.zeros_like(scores)
    label[0, 2] = label[1, 0] = 1
    log_y = softmax_forward(handle, x, algorithm="log")
    dy = DeviceTensor.from_numpy(-label)
    dx = softmax_backward(handle, y=log_y, dy=dy, algorithm="log").numpy()
    print(
        f"\ngradient of -log y[label] by x, which is y - one_hot(label):\n{dx[:, :, 0, 0].round(4)}"
    )
    assert np.allclose(dx, y.numpy() - label, atol=1e-6)

    # Over what the sum runs: the channels of each pixel, or all of an image.
    image = DeviceTensor.from_numpy(np.zeros((1, 2, 1, 2), np.float32))
    print("\nequal scores for 2 channels of 2 pixels:")
    for mode in ("channel", "instance"):
        shares = softmax_forward(handle, image, mode=mode).numpy().ravel()
        print(f"  mode {mode:8}: {shares}")
