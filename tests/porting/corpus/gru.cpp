// A GRU of one layer, forwards and backwards; all buffers in one struct.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define DNN(expr)                                                                          \
  do {                                                                                     \
    const cudnnStatus_t _s = (expr);                                                       \
    if (_s != CUDNN_STATUS_SUCCESS) {                                                      \
      fprintf(stderr, "[%s:%d] %s -> %s\n", __FILE__, __LINE__, #expr, cudnnGetErrorString(_s)); \
      abort();                                                                             \
    }                                                                                      \
  } while (false)

constexpr int kSteps = 4, kBatch = 2, kInput = 3, kHidden = 2;

struct Buffers {
  float *x = nullptr, *y = nullptr, *dx = nullptr, *dy = nullptr;
  void *weights = nullptr, *d_weights = nullptr, *work = nullptr, *reserve = nullptr;
  size_t weight_size = 0, work_size = 0, reserve_size = 0;
};

static std::vector<float> wave(int count, int step, float scale) {
  std::vector<float> v(count);
  for (int i = 0; i < count; ++i) v[i] = scale * ((i * step) % 9 - 4);
  return v;
}

static float *upload(const std::vector<float> &v) {
  float *p = nullptr;
  cudaMalloc((void **)&p, v.size() * sizeof(float));
  cudaMemcpy(p, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice);
  return p;
}

static std::vector<float> download(const void *p, size_t count) {
  std::vector<float> v(count);
  cudaMemcpy(v.data(), p, count * sizeof(float), cudaMemcpyDeviceToHost);
  return v;
}

static void print(const char *name, const std::vector<float> &v, size_t most) {
  std::printf("%s", name);
  for (size_t i = 0; i < v.size() && i < most; ++i) std::printf(" %.5f", v[i]);
  std::printf("\n");
}

int main() {
  cudnnHandle_t handle;
  DNN(cudnnCreate(&handle));
  cudnnDropoutDescriptor_t dropout;
  cudnnRNNDescriptor_t rnn;
  cudnnRNNDataDescriptor_t x_desc, y_desc;
  cudnnTensorDescriptor_t h_desc;
  DNN(cudnnCreateDropoutDescriptor(&dropout));
  DNN(cudnnSetDropoutDescriptor(dropout, handle, 0, nullptr, 0, 0));
  DNN(cudnnCreateRNNDescriptor(&rnn));
  DNN(cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, CUDNN_GRU, CUDNN_RNN_DOUBLE_BIAS,
                               CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT,
                               CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, kInput, kHidden, kHidden, 1, dropout,
                               0));
  std::vector<int> lengths(kBatch, kSteps);
  float padding = 0.0f;
  DNN(cudnnCreateRNNDataDescriptor(&x_desc));
  DNN(cudnnCreateRNNDataDescriptor(&y_desc));
  DNN(cudnnSetRNNDataDescriptor(x_desc, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, kSteps,
                                kBatch, kInput, lengths.data(), &padding));
  DNN(cudnnSetRNNDataDescriptor(y_desc, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, kSteps,
                                kBatch, kHidden, lengths.data(), &padding));
  DNN(cudnnCreateTensorDescriptor(&h_desc));
  const int h_dims[3] = {1, kBatch, kHidden}, h_strides[3] = {kBatch * kHidden, kHidden, 1};
  DNN(cudnnSetTensorNdDescriptor(h_desc, CUDNN_DATA_FLOAT, 3, h_dims, h_strides));

  Buffers b;
  DNN(cudnnGetRNNWeightSpaceSize(handle, rnn, &b.weight_size));
  DNN(cudnnGetRNNTempSpaceSizes(handle, rnn, CUDNN_FWD_MODE_TRAINING, x_desc, &b.work_size,
                                &b.reserve_size));
  const size_t weights = b.weight_size / sizeof(float);
  assert(weights >= 3 * (kInput * kHidden + kHidden * kHidden + 2 * kHidden));
  b.x = upload(wave(kSteps * kBatch * kInput, 5, 0.25f));
  b.dy = upload(wave(kSteps * kBatch * kHidden, 7, 0.125f));
  cudaMalloc((void **)&b.y, kSteps * kBatch * kHidden * sizeof(float));
  cudaMalloc((void **)&b.dx, kSteps * kBatch * kInput * sizeof(float));
  cudaMalloc(&b.weights, b.weight_size);
  cudaMalloc(&b.d_weights, b.weight_size);
  cudaMemset(b.weights, 0, b.weight_size);
  cudaMemset(b.d_weights, 0, b.weight_size);
  if (b.work_size) cudaMalloc(&b.work, b.work_size);
  if (b.reserve_size) cudaMalloc(&b.reserve, b.reserve_size);

  cudnnTensorDescriptor_t m_desc, b_desc;
  DNN(cudnnCreateTensorDescriptor(&m_desc));
  DNN(cudnnCreateTensorDescriptor(&b_desc));
  for (int id = 0; id < 6; ++id) {
    void *matrix = nullptr, *bias = nullptr;
    DNN(cudnnGetRNNWeightParams(handle, rnn, 0, b.weight_size, b.weights, id, m_desc, &matrix, b_desc,
                                &bias));
    const int columns = id < 3 ? kInput : kHidden;
    std::vector<float> m = wave(kHidden * columns, id + 2, 0.2f), v = wave(kHidden, id + 1, 0.1f);
    cudaMemcpy(matrix, m.data(), m.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(bias, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice);
  }
  DNN(cudnnRNNForward(handle, rnn, CUDNN_FWD_MODE_TRAINING, nullptr, x_desc, b.x, y_desc, b.y, h_desc,
                      nullptr, nullptr, nullptr, nullptr, nullptr, b.weight_size, b.weights, b.work_size,
                      b.work, b.reserve_size, b.reserve));
  print("y", download(b.y, kSteps * kBatch * kHidden), 16);
  DNN(cudnnRNNBackwardData_v8(handle, rnn, nullptr, y_desc, b.y, b.dy, x_desc, b.dx, h_desc, nullptr,
                              nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, b.weight_size,
                              b.weights, b.work_size, b.work, b.reserve_size, b.reserve));
  print("dx", download(b.dx, kSteps * kBatch * kInput), 6);
  DNN(cudnnRNNBackwardWeights_v8(handle, rnn, CUDNN_WGRAD_MODE_ADD, nullptr, x_desc, b.x, h_desc, nullptr,
                                 y_desc, b.y, b.weight_size, b.d_weights, b.work_size, b.work,
                                 b.reserve_size, b.reserve));
  for (int id = 0; id < 6; id += 5) {
    void *matrix = nullptr, *bias = nullptr;
    DNN(cudnnGetRNNWeightParams(handle, rnn, 0, b.weight_size, b.d_weights, id, m_desc, &matrix, b_desc,
                                &bias));
    print(id ? "dR" : "dW", download(matrix, kHidden * (id ? kHidden : kInput)), 6);
  }
  for (void *p : {(void *)b.x, (void *)b.y, (void *)b.dx, (void *)b.dy}) cudaFree(p);
  cudaFree(b.weights);
  cudaFree(b.d_weights);
  cudaFree(b.work);
  cudaFree(b.reserve);
  cudnnDestroyTensorDescriptor(b_desc);
  cudnnDestroyTensorDescriptor(m_desc);
  cudnnDestroyTensorDescriptor(h_desc);
  cudnnDestroyRNNDataDescriptor(y_desc);
  cudnnDestroyRNNDataDescriptor(x_desc);
  cudnnDestroyRNNDescriptor(rnn);
  cudnnDestroyDropoutDescriptor(dropout);
  cudnnDestroy(handle);
}
