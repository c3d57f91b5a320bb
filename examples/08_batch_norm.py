"""Batch normalization: training, the running averages, and inference; raw calls, then classes.

y = scale * (x - mean) / sqrt(variance + epsilon) + bias for each channel. In training the mean and
the variance are those of the batch, in inference averages that training kept.
"""

from ctypes import c_double, c_float

import numpy as np

from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    batch_normalization_backward,
    batch_normalization_forward_inference,
    batch_normalization_forward_training,
    raw,
)

N, C, H, W, EPSILON = 8, 2, 4, 4, 1e-5
rng = np.random.default_rng(0)
spread, center = np.array([1, 5]).reshape(C, 1, 1), np.array([0, 100]).reshape(C, 1, 1)
batches = [(spread * rng.standard_normal((N, C, H, W)) + center).astype("f4") for _ in range(50)]


def of_channels(value: float) -> DeviceTensor:
    return DeviceTensor.full((1, C, 1, 1), value, "float32")


x, y = DeviceTensor.from_numpy(batches[0]), DeviceTensor.empty((N, C, H, W), "float32")
scale, bias, mean, variance = (of_channels(value) for value in (1, 0, 0, 0))
saved_mean, saved_inv_variance = of_channels(0), of_channels(0)

# cudnnHandle_t cudnn;
# cudnnTensorDescriptor_t x_desc, bn_desc;
# CHECK(cudnnCreate(&cudnn));
# CHECK(cudnnCreateTensorDescriptor(&x_desc));
# CHECK(cudnnSetTensor4dDescriptor(x_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 8, 2, 4, 4));
# CHECK(cudnnCreateTensorDescriptor(&bn_desc));
# CHECK(cudnnDeriveBNTensorDescriptor(bn_desc, x_desc, CUDNN_BATCHNORM_SPATIAL));
cudnn = raw.cudnnHandle_t()
x_desc, bn_desc = raw.cudnnTensorDescriptor_t(), raw.cudnnTensorDescriptor_t()
raw.cudnnCreate(cudnn)
raw.cudnnCreateTensorDescriptor(x_desc)
raw.cudnnSetTensor4dDescriptor(x_desc, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, N, C, H, W)
raw.cudnnCreateTensorDescriptor(bn_desc)
raw.cudnnDeriveBNTensorDescriptor(bn_desc, x_desc, raw.CUDNN_BATCHNORM_SPATIAL)

# float alpha = 1, beta = 0, *x, *y, *scale, *bias, *mean, *variance, *saved_mean, *saved_inv;
# CHECK(cudnnBatchNormalizationForwardTraining(cudnn, CUDNN_BATCHNORM_SPATIAL, &alpha, &beta,
#     x_desc, x, x_desc, y, bn_desc, scale, bias, 1.0, mean, variance, 1e-5,
#     saved_mean, saved_inv));
spatial, alpha, beta = raw.CUDNN_BATCHNORM_SPATIAL, c_float(1), c_float(0)
statistics = (c_double(EPSILON), saved_mean, saved_inv_variance)
raw.cudnnBatchNormalizationForwardTraining(
    cudnn, spatial, alpha, beta, x_desc, x, x_desc, y, bn_desc, scale, bias, 1.0, mean, variance,
    *statistics,
)  # fmt: skip

# CHECK(cudnnDestroyTensorDescriptor(bn_desc));
# CHECK(cudnnDestroyTensorDescriptor(x_desc));
# CHECK(cudnnDestroy(cudnn));
raw.cudnnDestroyTensorDescriptor(bn_desc)
raw.cudnnDestroyTensorDescriptor(x_desc)
raw.cudnnDestroy(cudnn)


def channels(array: np.ndarray) -> str:
    return "  ".join(f"{value:9.4f}" for value in array.ravel())


print(f"channels of x: mean      {channels(batches[0].mean((0, 2, 3)))}")
print(f"               deviation {channels(batches[0].std((0, 2, 3)))}")
print(f"channels of y: mean      {channels(y.numpy().mean((0, 2, 3)))}")
print(f"               deviation {channels(y.numpy().std((0, 2, 3)))}")
print(f"saved for backward: mean {channels(saved_mean.numpy())}")
print(f"     1 / sqrt(variance)  {channels(saved_inv_variance.numpy())}")

with Handle() as handle:
    for batch in batches:  # the weight of the newest batch in the averages is 0.1
        result = batch_normalization_forward_training(
            handle, DeviceTensor.from_numpy(batch), scale, bias,
            average_factor=0.1, running_mean=mean, running_variance=variance,
        )  # fmt: skip
    print(f"\nafter {len(batches)} batches: mean    {channels(mean.numpy())}")
    print(f"                variance  {channels(variance.numpy())}")

    # In inference a sample does not depend on the others: one alone gives the same.
    averages = (scale, bias, mean, variance)
    all_of_it = batch_normalization_forward_inference(handle, x, *averages).numpy()
    first = DeviceTensor.from_numpy(batches[0][:1])
    alone = batch_normalization_forward_inference(handle, first, *averages).numpy()
    print(f"\nthe first image alone, in inference: {np.abs(alone - all_of_it[:1]).max():.0e} off")

    # Mean and variance depend on x, and the gradient knows it: a constant dy leaves nothing.
    dy = DeviceTensor.full((N, C, H, W), 1, "float32")
    g = batch_normalization_backward(handle, x=x, dy=dy, scale=scale)
    largest = np.abs(g.dx.numpy()).max()
    print(f"dy = 1 everywhere: largest dx {largest:.0e}, dbias {channels(g.dbias.numpy())}")
    assert largest < 1e-4
