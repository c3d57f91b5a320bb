/* An LSTM of one layer over packed sequences of two lengths. Weights are set through
 * cudnnGetRNNWeightParams, one matrix at a time. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RNN_CHECK(e)                                                              \
  do {                                                                            \
    cudnnStatus_t rnn_status = e;                                                 \
    if (rnn_status != CUDNN_STATUS_SUCCESS) {                                     \
      fprintf(stderr, "[%s:%d] %s\n", __FILE__, __LINE__, cudnnGetErrorString(rnn_status)); \
      abort();                                                                    \
    }                                                                             \
  } while (0)

enum { INPUT = 3, HIDDEN = 4, BATCH = 2, STEPS = 3, GATES = 8 };

static float pattern(int i) { return ((i * 37 + 11) % 41 - 20) / 40.0f; }

static void set_weights(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, size_t size, void *space) {
  cudnnTensorDescriptor_t m_desc, b_desc;
  int counter = 0;
  RNN_CHECK(cudnnCreateTensorDescriptor(&m_desc));
  RNN_CHECK(cudnnCreateTensorDescriptor(&b_desc));
  for (int lin = 0; lin < GATES; lin++) {
    void *m_addr = NULL, *b_addr = NULL;
    RNN_CHECK(cudnnGetRNNWeightParams(handle, rnn, 0, size, space, lin, m_desc, &m_addr, b_desc,
                                      &b_addr));
    cudnnDataType_t type;
    int nb_dims, dims[3], strides[3];
    if (m_addr) {
      RNN_CHECK(cudnnGetTensorNdDescriptor(m_desc, 3, &type, &nb_dims, dims, strides));
      int count = dims[0] * dims[1] * dims[2];
      float *host = (float *)malloc(sizeof(float) * count);
      for (int i = 0; i < count; i++) host[i] = pattern(counter++);
      cudaMemcpy(m_addr, host, sizeof(float) * count, cudaMemcpyHostToDevice);
      if (lin == 0) printf("matrix 0: %d x %d, type %d\n", dims[1], dims[2], type);
      free(host);
    }
    if (b_addr) {
      RNN_CHECK(cudnnGetTensorNdDescriptor(b_desc, 3, &type, &nb_dims, dims, strides));
      int count = dims[0] * dims[1] * dims[2];
      float host[HIDDEN];
      for (int i = 0; i < count; i++) host[i] = pattern(counter++) / 2;
      cudaMemcpy(b_addr, host, sizeof(float) * count, cudaMemcpyHostToDevice);
    }
  }
  RNN_CHECK(cudnnDestroyTensorDescriptor(m_desc));
  RNN_CHECK(cudnnDestroyTensorDescriptor(b_desc));
}

int main() {
  cudnnHandle_t handle;
  cudnnRNNDescriptor_t rnn;
  cudnnDropoutDescriptor_t dropout;
  cudnnRNNDataDescriptor_t x_desc, y_desc;
  cudnnTensorDescriptor_t h_desc;
  RNN_CHECK(cudnnCreate(&handle));
  RNN_CHECK(cudnnCreateDropoutDescriptor(&dropout));
  RNN_CHECK(cudnnSetDropoutDescriptor(dropout, handle, 0.0f, NULL, 0, 0));
  RNN_CHECK(cudnnCreateRNNDescriptor(&rnn));
  RNN_CHECK(cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS,
                                     CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT,
                                     CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, INPUT, HIDDEN, HIDDEN, 1,
                                     dropout, CUDNN_RNN_PADDED_IO_ENABLED));
  int lengths[BATCH] = {3, 2};
  float padding = 0.0f;
  RNN_CHECK(cudnnCreateRNNDataDescriptor(&x_desc));
  RNN_CHECK(cudnnCreateRNNDataDescriptor(&y_desc));
  RNN_CHECK(cudnnSetRNNDataDescriptor(x_desc, CUDNN_DATA_FLOAT,
                                      CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED, STEPS, BATCH, INPUT,
                                      lengths, &padding));
  RNN_CHECK(cudnnSetRNNDataDescriptor(y_desc, CUDNN_DATA_FLOAT,
                                      CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED, STEPS, BATCH, HIDDEN,
                                      lengths, &padding));
  int h_dims[3] = {1, BATCH, HIDDEN}, h_strides[3] = {BATCH * HIDDEN, HIDDEN, 1};
  RNN_CHECK(cudnnCreateTensorDescriptor(&h_desc));
  RNN_CHECK(cudnnSetTensorNdDescriptor(h_desc, CUDNN_DATA_FLOAT, 3, h_dims, h_strides));

  size_t weight_size, work_size, reserve_size;
  RNN_CHECK(cudnnGetRNNWeightSpaceSize(handle, rnn, &weight_size));
  RNN_CHECK(cudnnGetRNNTempSpaceSizes(handle, rnn, CUDNN_FWD_MODE_INFERENCE, x_desc, &work_size,
                                      &reserve_size));
  void *weights, *work = NULL, *reserve = NULL;
  int *dev_lengths;
  float *x, *y, *hy, *cy;
  cudaMalloc(&weights, weight_size);
  if (work_size != 0) cudaMalloc(&work, work_size);
  if (reserve_size != 0) cudaMalloc(&reserve, reserve_size);
  cudaMalloc((void **)&dev_lengths, sizeof(lengths));
  cudaMalloc((void **)&x, BATCH * STEPS * INPUT * sizeof(float));
  cudaMalloc((void **)&y, BATCH * STEPS * HIDDEN * sizeof(float));
  cudaMalloc((void **)&hy, BATCH * HIDDEN * sizeof(float));
  cudaMalloc((void **)&cy, BATCH * HIDDEN * sizeof(float));
  cudaMemset(weights, 0, weight_size);
  cudaMemcpy(dev_lengths, lengths, sizeof(lengths), cudaMemcpyHostToDevice);
  set_weights(handle, rnn, weight_size, weights);

  float host_x[BATCH][STEPS][INPUT];
  for (int b = 0; b < BATCH; b++)
    for (int t = 0; t < STEPS; t++)
      for (int i = 0; i < INPUT; i++) host_x[b][t][i] = b - 0.5f * t + 0.25f * i;
  cudaMemcpy(x, host_x, sizeof host_x, cudaMemcpyHostToDevice);

  RNN_CHECK(cudnnRNNForward(handle, rnn, CUDNN_FWD_MODE_INFERENCE, dev_lengths, x_desc, x, y_desc, y,
                            h_desc, NULL, hy, h_desc, NULL, cy, weight_size, weights, work_size, work,
                            reserve_size, reserve));
  float host_y[BATCH * STEPS * HIDDEN], last[BATCH * HIDDEN];
  cudaMemcpy(host_y, y, sizeof(host_y), cudaMemcpyDeviceToHost);
  for (int b = 0; b < BATCH; ++b) {
    for (int t = 0; t < lengths[b]; ++t) {
      const float *row = host_y + (b * STEPS + t) * HIDDEN;
      printf("y[%d][%d]", b, t);
      for (int i = 0; i < HIDDEN; ++i) printf(" %7.4f", row[i]);
      printf("\n");
    }
  }
  cudaMemcpy(last, cy, sizeof(last), cudaMemcpyDeviceToHost);
  printf("c %7.4f %7.4f\n", last[0], last[HIDDEN + 1]);
  cudaFree(weights);
  cudaFree(x);
  cudaFree(y);
  RNN_CHECK(cudnnDestroyRNNDescriptor(rnn));
  RNN_CHECK(cudnnDestroyDropoutDescriptor(dropout));
  RNN_CHECK(cudnnDestroy(handle));
  return 0;
}
