/* Two streams, events, pitched copies and pinned memory around a bias that is added twice. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, COLUMNS = 5, WIDE = 8 };

#define RT(call)                                                                        \
  {                                                                                     \
    cudaError_t error = call;                                                           \
    if (cudaSuccess != error) {                                                         \
      printf("Error: %s:%d, ", __FILE__, __LINE__);                                     \
      printf("code: %d, reason: %s\n", error, cudaGetErrorString(error));               \
      exit(-10 * error);                                                                \
    }                                                                                   \
  }

typedef struct job {
  cudaStream_t stream;
  float *data;
  float *host;
  float bias;
} job;

int main(void) {
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t desc, bias_desc;
  job jobs[2];
  float *d_bias, one = 1.0f;
  cudaEvent_t start, stop;
  float elapsed = -1.0f;
  int devices = 0;
  bool ordered = true;

  RT(cudaGetDeviceCount(&devices));
  printf("devices: %s\n", devices > 0 ? "some" : "none");
  if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) return 1;
  cudnnCreateTensorDescriptor(&desc);
  cudnnCreateTensorDescriptor(&bias_desc);
  cudnnSetTensor4dDescriptorEx(desc, CUDNN_DATA_FLOAT, 1, 1, ROWS, COLUMNS, ROWS * WIDE, ROWS * WIDE, WIDE,
                               1);
  cudnnSetTensor4dDescriptor(bias_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1);
  RT(cudaMalloc((void **)&d_bias, sizeof(float)));
  RT(cudaEventCreate(&start));
  RT(cudaEventCreate(&stop));

  for (int j = 0; j < 2; j++) {
    job *one_job = &jobs[j];
    RT(cudaStreamCreate(&one_job->stream));
    RT(cudaMallocHost((void **)&one_job->host, ROWS * COLUMNS * sizeof(float)));
    RT(cudaMalloc((void **)&one_job->data, ROWS * WIDE * sizeof(float)));
    RT(cudaMemset(one_job->data, 0, ROWS * WIDE * sizeof(float)));
    one_job->bias = 0.5f + j;
    for (int i = 0; i < ROWS * COLUMNS; i++) one_job->host[i] = i * (j ? -1.0f : 1.0f);
  }
  RT(cudaEventRecord(start, 0));
  for (int j = 0; j < 2; j++) {
    job *p = jobs + j;
    cudnnSetStream(handle, p->stream);
    RT(cudaMemcpy2DAsync(p->data, WIDE * sizeof(float), p->host, COLUMNS * sizeof(float),
                         COLUMNS * sizeof(float), ROWS, cudaMemcpyHostToDevice, p->stream));
    RT(cudaMemcpy(d_bias, &p->bias, sizeof(float), cudaMemcpyHostToDevice));
    for (int k = 0; k < 2; k++) cudnnAddTensor(handle, &one, bias_desc, d_bias, &one, desc, p->data);
    RT(cudaMemcpy2DAsync(p->host, COLUMNS * sizeof(float), p->data, WIDE * sizeof(float),
                         COLUMNS * sizeof(float), ROWS, cudaMemcpyDeviceToHost, p->stream));
    RT(cudaStreamSynchronize(p->stream));
  }
  RT(cudaEventRecord(stop, 0));
  RT(cudaEventSynchronize(stop));
  RT(cudaEventElapsedTime(&elapsed, start, stop));
  if (elapsed < 0) ordered = false;
  for (int j = 0; j < 2; j++) {
    printf("job %d:", j);
    for (int i = 0; i < ROWS * COLUMNS; i += 7) printf(" %g", jobs[j].host[i]);
    printf("\n");
    RT(cudaFreeHost(jobs[j].host));
    RT(cudaFree(jobs[j].data));
    RT(cudaStreamDestroy(jobs[j].stream));
  }
  printf("time runs forwards: %d\n", ordered);
  RT(cudaFree(d_bias));
  RT(cudaEventDestroy(start));
  RT(cudaEventDestroy(stop));
  cudnnDestroyTensorDescriptor(bias_desc);
  cudnnDestroyTensorDescriptor(desc);
  cudnnDestroy(handle);
  RT(cudaDeviceSynchronize());
  return 0;
}
