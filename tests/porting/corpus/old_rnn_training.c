/* A step of training as cuDNN 7 had it: a bidirectional LSTM, its gates set one by one. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                         \
  do {                                                                      \
    cudnnStatus_t status_ = (call);                                         \
    if (status_ != CUDNN_STATUS_SUCCESS) {                                  \
      printf("line %d: %s\n", __LINE__, cudnnGetErrorString(status_));      \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

enum { STEPS = 3, BATCH = 2, INPUT = 2, HIDDEN = 3, WAYS = 2, GATES = 8 };

static cudnnTensorDescriptor_t tensor(int a, int b, int c) {
  cudnnTensorDescriptor_t desc;
  int dims[3] = {a, b, c}, strides[3] = {b * c, c, 1};
  CHECK(cudnnCreateTensorDescriptor(&desc));
  CHECK(cudnnSetTensorNdDescriptor(desc, CUDNN_DATA_FLOAT, 3, dims, strides));
  return desc;
}

static float *on_device(const float *host, int count) {
  float *device;
  cudaMalloc((void **)&device, count * sizeof(float));
  if (host) cudaMemcpy(device, host, count * sizeof(float), cudaMemcpyHostToDevice);
  return device;
}

static void show(const char *name, const float *device, int count) {
  float *host = (float *)malloc(count * sizeof(float)), sum = 0;
  cudaMemcpy(host, device, count * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < count; i++) sum += host[i] * (i % 4 + 1);
  printf("%s %.4f %.4f %.4f\n", name, host[0], host[count - 1], sum);
  free(host);
}

int main(void) {
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t x_desc[STEPS], y_desc[STEPS], h_desc = tensor(WAYS, BATCH, HIDDEN);
  cudnnDropoutDescriptor_t dropout;
  cudnnRNNDescriptor_t rnn;
  cudnnFilterDescriptor_t w_desc, part;
  CHECK(cudnnCreate(&handle));
  for (int t = 0; t < STEPS; t++) {
    x_desc[t] = tensor(BATCH, INPUT, 1);
    y_desc[t] = tensor(BATCH, HIDDEN * WAYS, 1);
  }
  CHECK(cudnnCreateDropoutDescriptor(&dropout));
  CHECK(cudnnSetDropoutDescriptor(dropout, handle, 0.f, NULL, 0, 1ull));
  CHECK(cudnnCreateRNNDescriptor(&rnn));
  CHECK(cudnnSetRNNDescriptor_v6(handle, rnn, HIDDEN, 1, dropout, CUDNN_LINEAR_INPUT,
                                 CUDNN_BIDIRECTIONAL, CUDNN_LSTM, CUDNN_RNN_ALGO_STANDARD,
                                 CUDNN_DATA_FLOAT));
  CHECK(cudnnSetRNNMatrixMathType(rnn, CUDNN_DEFAULT_MATH));
  cudnnMathType_t math;
  CHECK(cudnnGetRNNMatrixMathType(rnn, &math));
  int hidden, layers;
  cudnnRNNInputMode_t mode;
  cudnnDirectionMode_t direction;
  cudnnRNNMode_t cell;
  cudnnRNNAlgo_t algorithm;
  cudnnDataType_t type;
  CHECK(cudnnGetRNNDescriptor_v6(handle, rnn, &hidden, &layers, &dropout, &mode, &direction, &cell,
                                 &algorithm, &type));
  printf("%d %d %d %d %d %d\n", hidden, layers, math == CUDNN_DEFAULT_MATH, cell == CUDNN_LSTM,
         direction == CUDNN_BIDIRECTIONAL, type == CUDNN_DATA_FLOAT);

  size_t weight_bytes, work_bytes, reserve_bytes;
  CHECK(cudnnGetRNNParamsSize(handle, rnn, x_desc[0], &weight_bytes, CUDNN_DATA_FLOAT));
  CHECK(cudnnGetRNNWorkspaceSize(handle, rnn, STEPS, x_desc, &work_bytes));
  CHECK(cudnnGetRNNTrainingReserveSize(handle, rnn, STEPS, x_desc, &reserve_bytes));
  int weight_count = weight_bytes / sizeof(float), dim_w[3] = {weight_count, 1, 1};
  printf("%d weights\n", weight_count);
  CHECK(cudnnCreateFilterDescriptor(&w_desc));
  CHECK(cudnnSetFilterNdDescriptor(w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 3, dim_w));
  CHECK(cudnnCreateFilterDescriptor(&part));
  float *w = on_device(NULL, weight_count), *dw = on_device(NULL, weight_count), *place;
  void *work, *reserve;
  cudaMalloc(&work, work_bytes);
  cudaMalloc(&reserve, reserve_bytes);
  for (int way = 0; way < WAYS; way++) {
    for (int id = 0; id < GATES; id++) {
      cudnnTensorFormat_t format;
      int count, dims[3];
      float values[HIDDEN * HIDDEN];
      CHECK(cudnnGetRNNLinLayerMatrixParams(handle, rnn, way, x_desc[0], w_desc, w, id, part,
                                            (void **)&place));
      CHECK(cudnnGetFilterNdDescriptor(part, 3, &type, &format, &count, dims));
      count = dims[0] * dims[1] * dims[2];
      for (int i = 0; i < count; i++) values[i] = 0.1f * ((i * 3 + id * 2 + way) % 7) - 0.3f;
      cudaMemcpy(place, values, count * sizeof(float), cudaMemcpyHostToDevice);
      CHECK(cudnnGetRNNLinLayerBiasParams(handle, rnn, way, x_desc[0], w_desc, w, id, part,
                                          (void **)&place));
      CHECK(cudnnGetFilterNdDescriptor(part, 3, &type, &format, &count, dims));
      count = dims[0] * dims[1] * dims[2];
      for (int i = 0; i < count; i++) values[i] = 0.05f * (id + i + way) - 0.2f;
      cudaMemcpy(place, values, count * sizeof(float), cudaMemcpyHostToDevice);
    }
  }

  float input[STEPS * BATCH * INPUT], slope[STEPS * BATCH * HIDDEN * WAYS];
  for (int i = 0; i < STEPS * BATCH * INPUT; i++) input[i] = (i % 5) * 0.2f - 0.3f;
  for (int i = 0; i < STEPS * BATCH * HIDDEN * WAYS; i++) slope[i] = i % 3 - 0.5f;
  float *x = on_device(input, STEPS * BATCH * INPUT), *dx = on_device(NULL, STEPS * BATCH * INPUT);
  float *y = on_device(NULL, STEPS * BATCH * HIDDEN * WAYS), *dy = on_device(slope, STEPS * BATCH * HIDDEN * WAYS);
  float *hy = on_device(NULL, WAYS * BATCH * HIDDEN), *cy = on_device(NULL, WAYS * BATCH * HIDDEN);
  CHECK(cudnnRNNForwardTraining(handle, rnn, STEPS, x_desc, x, h_desc, NULL, h_desc, NULL, w_desc, w,
                                y_desc, y, h_desc, hy, h_desc, cy, work, work_bytes, reserve,
                                reserve_bytes));
  show("y", y, STEPS * BATCH * HIDDEN * WAYS);
  show("hy", hy, WAYS * BATCH * HIDDEN);
  show("cy", cy, WAYS * BATCH * HIDDEN);
  CHECK(cudnnRNNBackwardData(handle, rnn, STEPS, y_desc, y, y_desc, dy, h_desc, NULL, h_desc, NULL,
                             w_desc, w, h_desc, NULL, h_desc, NULL, x_desc, dx, h_desc, NULL, h_desc,
                             NULL, work, work_bytes, reserve, reserve_bytes));
  show("dx", dx, STEPS * BATCH * INPUT);
  cudaMemset(dw, 0, weight_bytes);
  CHECK(cudnnRNNBackwardWeights(handle, rnn, STEPS, x_desc, x, h_desc, NULL, y_desc, y, work,
                                work_bytes, w_desc, dw, reserve, reserve_bytes));
  for (int id = 0; id < GATES; id += 3) {
    CHECK(cudnnGetRNNLinLayerMatrixParams(handle, rnn, 1, x_desc[0], w_desc, dw, id, part,
                                          (void **)&place));
    show("dw", place, HIDDEN * (id < 4 ? INPUT : HIDDEN));
    CHECK(cudnnGetRNNLinLayerBiasParams(handle, rnn, 0, x_desc[0], w_desc, dw, id, part,
                                        (void **)&place));
    show("db", place, HIDDEN);
  }
  CHECK(cudnnDestroyRNNDescriptor(rnn));
  CHECK(cudnnDestroy(handle));
  return 0;
}
