/* Linear regression by gradient descent: a convolution as the model, cudnnAddTensor as the optimizer. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 16
#define FEATURES 3
#define STEPS 60

static cudnnHandle_t cudnn;
static cudnnTensorDescriptor_t x_desc, y_desc, w_as_tensor;
static cudnnFilterDescriptor_t w_desc;
static cudnnConvolutionDescriptor_t conv_desc;
static float *d_x, *d_y, *d_w, *d_dw, *d_target;

static void must(cudnnStatus_t status)
{
    if (status != CUDNN_STATUS_SUCCESS) {
        fprintf(stderr, "cuDNN: %s\n", cudnnGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}

static void setup(void)
{
    must(cudnnCreate(&cudnn));
    must(cudnnCreateTensorDescriptor(&x_desc));
    must(cudnnCreateTensorDescriptor(&y_desc));
    must(cudnnCreateTensorDescriptor(&w_as_tensor));
    must(cudnnCreateFilterDescriptor(&w_desc));
    must(cudnnCreateConvolutionDescriptor(&conv_desc));
    must(cudnnSetTensor4dDescriptor(x_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, SAMPLES, FEATURES, 1, 1));
    must(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, SAMPLES, 1, 1, 1));
    must(cudnnSetTensor4dDescriptor(w_as_tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, FEATURES, 1, 1));
    must(cudnnSetFilter4dDescriptor(w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, FEATURES, 1, 1));
    must(cudnnSetConvolution2dDescriptor(conv_desc, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                         CUDNN_DATA_FLOAT));
}

static void teardown(void)
{
    float *all[5] = { d_x, d_y, d_w, d_dw, d_target };
    int i = 0;
    do {
        cudaFree(all[i]);
    } while (++i < 5);
    must(cudnnDestroyConvolutionDescriptor(conv_desc));
    must(cudnnDestroyFilterDescriptor(w_desc));
    must(cudnnDestroyTensorDescriptor(w_as_tensor));
    must(cudnnDestroyTensorDescriptor(y_desc));
    must(cudnnDestroyTensorDescriptor(x_desc));
    must(cudnnDestroy(cudnn));
}

int main(int argc, char **argv)
{
    const float truth[FEATURES] = { 1.5f, -2.0f, 0.25f };
    float x[SAMPLES][FEATURES], target[SAMPLES], residual[SAMPLES], w[FEATURES];
    const float one = 1.0f, zero = 0.0f, minus = -1.0f;
    float rate = argc > 1 ? (float)atof(argv[1]) : 0.25f;
    int step, i, j;

    for (i = 0; i < SAMPLES; i++) {
        target[i] = 0.0f;
        for (j = 0; j < FEATURES; j++) {
            x[i][j] = ((3 * i + 5 * j * j) % 8 - 3.5f) / 4;
            target[i] += x[i][j] * truth[j];
        }
    }
    setup();
    cudaMalloc((void **)&d_x, sizeof(x));
    cudaMalloc((void **)&d_y, sizeof(target));
    cudaMalloc((void **)&d_target, sizeof(target));
    cudaMalloc((void **)&d_w, sizeof(w));
    cudaMalloc((void **)&d_dw, sizeof(w));
    cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
    cudaMemcpy(d_target, target, sizeof(target), cudaMemcpyHostToDevice);
    cudaMemset(d_w, 0, sizeof(w));

    for (step = 0; step < STEPS; step++) {
        must(cudnnConvolutionForward(cudnn, &one, x_desc, d_x, w_desc, d_w, conv_desc,
                                     CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, y_desc, d_y));
        must(cudnnAddTensor(cudnn, &minus, y_desc, d_target, &one, y_desc, d_y));
        if (step % 20 == 0 || step == STEPS - 1) {
            double loss = 0;
            cudaMemcpy(residual, d_y, sizeof(residual), cudaMemcpyDeviceToHost);
            for (i = 0; i < SAMPLES; i++) loss += (double)residual[i] * residual[i] / SAMPLES;
            printf("step %2d: loss %.5f\n", step, loss);
        }
        float scale = 2.0f / SAMPLES, change = -rate;
        must(cudnnConvolutionBackwardFilter(cudnn, &scale, x_desc, d_x, y_desc, d_y, conv_desc,
                                            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, NULL, 0, &zero, w_desc,
                                            d_dw));
        must(cudnnAddTensor(cudnn, &change, w_as_tensor, d_dw, &one, w_as_tensor, d_w));
    }
    cudaMemcpy(w, d_w, sizeof(w), cudaMemcpyDeviceToHost);
    printf("w = [%.3f, %.3f, %.3f]\n", w[0], w[1], w[2]);
    teardown();
    return 0;
}
