// A perceptron in CUDA: own kernels for products, gradients and updates, cuDNN for the activation.
#include <cudnn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define GPU(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true) {
  if (code != cudaSuccess) {
    fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    if (abort) exit(code);
  }
}

const int INPUTS = 4, SAMPLES = 32, BLOCK = 16;

__constant__ float c_rate = 0.5f;

__global__ void products(const float *x, const float *w, float *z, int inputs, int samples) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= samples) return;
  float sum = 0.f;
  for (int k = 0; k < inputs; ++k) sum += x[i * inputs + k] * w[k];
  z[i] = sum;
}

__device__ float squared(float v) { return v * v; }

__global__ void gradient(const float *x, const float *p, const float *t, float *dw, float *loss, int inputs,
                         int samples) {
  extern __shared__ float errors[];
  int k = blockIdx.x, i = threadIdx.x;
  errors[i] = i < samples ? (p[i] - t[i]) * x[i * inputs + k] / samples : 0.f;
  if (k == 0 && i < samples) atomicAdd(loss, squared(p[i] - t[i]) / samples);
  __syncthreads();
  if (i == 0) {
    float sum = 0.f;
    for (int j = 0; j < blockDim.x; ++j) sum += errors[j];
    dw[k] = sum;
  }
}

__global__ void update(float *w, const float *dw, int inputs) {
  int k = threadIdx.x;
  if (k < inputs) w[k] -= c_rate * dw[k];
}

int main() {
  float x[SAMPLES * INPUTS], t[SAMPLES], w[INPUTS] = {0};
  for (int i = 0; i < SAMPLES; i++) {
    for (int k = 0; k < INPUTS; k++) x[i * INPUTS + k] = k == 0 ? 1.f : ((i * (k + 2) + k) % 9 - 4) / 4.f;
    t[i] = x[i * INPUTS + 1] - x[i * INPUTS + 2] > 0.1f ? 1.f : 0.f;
  }
  float *d_x, *d_t, *d_w, *d_dw, *d_z, *d_p, *d_loss;
  GPU(cudaMalloc(&d_x, sizeof(x)));
  GPU(cudaMalloc(&d_t, sizeof(t)));
  GPU(cudaMalloc(&d_w, sizeof(w)));
  GPU(cudaMalloc(&d_dw, sizeof(w)));
  GPU(cudaMalloc(&d_z, sizeof(t)));
  GPU(cudaMalloc(&d_p, sizeof(t)));
  GPU(cudaMalloc(&d_loss, sizeof(float)));
  GPU(cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice));
  GPU(cudaMemcpy(d_t, t, sizeof(t), cudaMemcpyHostToDevice));
  GPU(cudaMemcpy(d_w, w, sizeof(w), cudaMemcpyHostToDevice));
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t desc;
  cudnnActivationDescriptor_t sigmoid;
  cudnnCreate(&handle);
  cudnnCreateTensorDescriptor(&desc);
  cudnnSetTensor4dDescriptor(desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, SAMPLES, 1, 1);
  cudnnCreateActivationDescriptor(&sigmoid);
  cudnnSetActivationDescriptor(sigmoid, CUDNN_ACTIVATION_SIGMOID, CUDNN_PROPAGATE_NAN, 0.0);
  const float one = 1, zero = 0;
  for (int step = 0; step <= 100; step++) {
    products<<<(SAMPLES + BLOCK - 1) / BLOCK, BLOCK>>>(d_x, d_w, d_z, INPUTS, SAMPLES);
    cudnnActivationForward(handle, sigmoid, &one, desc, d_z, &zero, desc, d_p);
    GPU(cudaMemset(d_loss, 0, sizeof(float)));
    gradient<<<INPUTS, SAMPLES, SAMPLES * sizeof(float)>>>(d_x, d_p, d_t, d_dw, d_loss, INPUTS, SAMPLES);
    GPU(cudaPeekAtLastError());
    if (step % 25 == 0) {
      float loss;
      GPU(cudaMemcpy(&loss, d_loss, sizeof(float), cudaMemcpyDeviceToHost));
      printf("step %3d loss %.4f\n", step, loss);
    }
    update<<<1, 32>>>(d_w, d_dw, INPUTS);
  }
  GPU(cudaDeviceSynchronize());
  GPU(cudaMemcpy(w, d_w, sizeof(w), cudaMemcpyDeviceToHost));
  for (int k = 0; k < INPUTS; k++) printf("%s%.3f", k ? " " : "w ", w[k]);
  printf("\n");
  cudaFree(d_x), cudaFree(d_t), cudaFree(d_w), cudaFree(d_dw), cudaFree(d_z), cudaFree(d_p);
  cudaFree(d_loss);
  cudnnDestroyActivationDescriptor(sigmoid);
  cudnnDestroyTensorDescriptor(desc);
  cudnnDestroy(handle);
  return 0;
}
