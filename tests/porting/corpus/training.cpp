// A network of two layers learns the parity of three bits: cuBLAS, cuDNN and a training loop.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                          \
  do {                                                       \
    int status_ = (int)(call);                               \
    if (status_ != 0) {                                      \
      std::fprintf(stderr, "%s: %d\n", #call, status_);      \
      std::exit(1);                                          \
    }                                                        \
  } while (0)

static const int BATCH = 8;
static const float RATE = 0.8f;

struct Dense {
  int in, out;
  float *weight, *bias, *d_weight, *d_bias;
  cudnnTensorDescriptor_t bias_desc;

  Dense(int in_, int out_) : in(in_), out(out_) {
    std::vector<float> w(in * out);
    for (int i = 0; i < in * out; ++i) w[i] = ((rand() % 2001) - 1000) / 1000.0f;
    CHECK(cudaMalloc((void **)&weight, w.size() * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_weight, w.size() * sizeof(float)));
    CHECK(cudaMalloc((void **)&bias, out * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_bias, out * sizeof(float)));
    CHECK(cudaMemcpy(weight, w.data(), w.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(bias, 0, out * sizeof(float)));
    CHECK(cudnnCreateTensorDescriptor(&bias_desc));
    CHECK(cudnnSetTensor4dDescriptor(bias_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, out, 1, 1));
  }

  // y = x W + b, all matrices row by row
  void forward(cublasHandle_t blas, cudnnHandle_t dnn, cudnnTensorDescriptor_t y_desc, const float *x,
               float *y) {
    const float one = 1.0f, zero = 0.0f;
    CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, out, BATCH, in, &one, weight, out, x, in, &zero,
                      y, out));
    CHECK(cudnnAddTensor(dnn, &one, bias_desc, bias, &one, y_desc, y));
  }

  void backward(cublasHandle_t blas, cudnnHandle_t dnn, cudnnTensorDescriptor_t dy_desc, const float *x,
                const float *dy, float *dx) {
    const float one = 1.0f, zero = 0.0f;
    CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, out, in, BATCH, &one, dy, out, x, in, &zero,
                      d_weight, out));
    CHECK(cudnnConvolutionBackwardBias(dnn, &one, dy_desc, dy, &zero, bias_desc, d_bias));
    if (dx != nullptr) {
      CHECK(cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, in, BATCH, out, &one, weight, out, dy, out,
                        &zero, dx, in));
    }
  }

  void update(cublasHandle_t blas) {
    float step = -RATE;
    CHECK(cublasSaxpy(blas, in * out, &step, d_weight, 1, weight, 1));
    CHECK(cublasSaxpy(blas, out, &step, d_bias, 1, bias, 1));
  }
};

static float *device(int count) {
  float *p;
  CHECK(cudaMalloc((void **)&p, count * sizeof(float)));
  return p;
}

int main() {
  const int hidden = 8;
  srand(3);
  cublasHandle_t blas;
  cudnnHandle_t dnn;
  CHECK(cublasCreate(&blas));
  CHECK(cudnnCreate(&dnn));

  cudnnTensorDescriptor_t h_desc, y_desc;
  CHECK(cudnnCreateTensorDescriptor(&h_desc));
  CHECK(cudnnCreateTensorDescriptor(&y_desc));
  CHECK(cudnnSetTensor4dDescriptor(h_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, BATCH, hidden, 1, 1));
  CHECK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, BATCH, 1, 1, 1));
  cudnnActivationDescriptor_t tanh_desc, sigmoid_desc;
  CHECK(cudnnCreateActivationDescriptor(&tanh_desc));
  CHECK(cudnnCreateActivationDescriptor(&sigmoid_desc));
  CHECK(cudnnSetActivationDescriptor(tanh_desc, CUDNN_ACTIVATION_TANH, CUDNN_PROPAGATE_NAN, 0.0));
  CHECK(cudnnSetActivationDescriptor(sigmoid_desc, CUDNN_ACTIVATION_SIGMOID, CUDNN_PROPAGATE_NAN, 0.0));

  float inputs[BATCH * 3], targets[BATCH];
  for (int i = 0; i < BATCH; ++i) {
    int parity = 0;
    for (int bit = 0; bit < 3; ++bit) {
      int set = (i >> bit) & 1;
      inputs[i * 3 + bit] = set ? 1.0f : -1.0f;
      parity ^= set;
    }
    targets[i] = parity;
  }

  Dense first(3, hidden), second(hidden, 1);
  float *x = device(BATCH * 3), *z = device(BATCH * hidden), *a = device(BATCH * hidden);
  float *dz = device(BATCH * hidden), *da = device(BATCH * hidden);
  float *y = device(BATCH), *p = device(BATCH), *dy = device(BATCH);
  CHECK(cudaMemcpy(x, inputs, sizeof(inputs), cudaMemcpyHostToDevice));

  const float one = 1.0f, zero = 0.0f;
  std::vector<float> out(BATCH), grad(BATCH);
  for (int step = 0; step <= 200; ++step) {
    first.forward(blas, dnn, h_desc, x, z);
    CHECK(cudnnActivationForward(dnn, tanh_desc, &one, h_desc, z, &zero, h_desc, a));
    second.forward(blas, dnn, y_desc, a, y);
    CHECK(cudnnActivationForward(dnn, sigmoid_desc, &one, y_desc, y, &zero, y_desc, p));
    CHECK(cudaMemcpy(out.data(), p, BATCH * sizeof(float), cudaMemcpyDeviceToHost));

    float loss = 0.0f;
    int right = 0;
    for (int i = 0; i < BATCH; ++i) {
      float d = out[i] - targets[i];
      loss += -(targets[i] * std::log(out[i]) + (1 - targets[i]) * std::log(1 - out[i])) / BATCH;
      grad[i] = d / BATCH;  // of sigmoid and cross entropy together
      right += (out[i] > 0.5f) == (targets[i] > 0.5f);
    }
    if (step % 50 == 0) std::printf("step %3d loss %.3f right %d/%d\n", step, loss, right, BATCH);

    CHECK(cudaMemcpy(dy, grad.data(), BATCH * sizeof(float), cudaMemcpyHostToDevice));
    second.backward(blas, dnn, y_desc, a, dy, da);
    CHECK(cudnnActivationBackward(dnn, tanh_desc, &one, h_desc, a, h_desc, da, h_desc, z, &zero, h_desc,
                                  dz));
    first.backward(blas, dnn, h_desc, x, dz, nullptr);
    first.update(blas);
    second.update(blas);
  }
  cudnnDestroy(dnn);
  cublasDestroy(blas);
  return 0;
}
