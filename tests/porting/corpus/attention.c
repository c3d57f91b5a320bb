/*
 * Multi-head attention of cuDNN's legacy API: one head, no projections, every query sees all keys.
 */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEQ 3
#define BATCH 2
#define SIZE 4

static cudnnHandle_t handle;
static int checks;

static void check_(cudnnStatus_t status, int line) {
  checks++;
  if (status == CUDNN_STATUS_SUCCESS) return;
  fprintf(stderr, "line %d: %s (%d)\n", line, cudnnGetErrorString(status), (int)status);
  exit(1);
}
#define check(status) check_(status, __LINE__)

static cudnnSeqDataDescriptor_t sequence(int *lengths) {
  cudnnSeqDataDescriptor_t desc;
  int dims[CUDNN_SEQDATA_DIM_COUNT];
  cudnnSeqDataAxis_t axes[CUDNN_SEQDATA_DIM_COUNT];
  dims[CUDNN_SEQDATA_TIME_DIM] = SEQ;
  dims[CUDNN_SEQDATA_BATCH_DIM] = BATCH;
  dims[CUDNN_SEQDATA_BEAM_DIM] = 1;
  dims[CUDNN_SEQDATA_VECT_DIM] = SIZE;
  axes[0] = CUDNN_SEQDATA_BATCH_DIM;
  axes[1] = CUDNN_SEQDATA_TIME_DIM;
  axes[2] = CUDNN_SEQDATA_BEAM_DIM;
  axes[3] = CUDNN_SEQDATA_VECT_DIM;
  check(cudnnCreateSeqDataDescriptor(&desc));
  check(cudnnSetSeqDataDescriptor(desc, CUDNN_DATA_FLOAT, CUDNN_SEQDATA_DIM_COUNT, dims, axes, BATCH,
                                  lengths, NULL));
  return desc;
}

static float *fill(int count, float scale, float shift) {
  float *host = (float *)malloc(count * sizeof *host), *device;
  for (int i = 0; i < count; i++) host[i] = sinf(scale * i + shift);
  if (cudaMalloc((void **)&device, count * sizeof *device)) exit(3);
  cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice);
  free(host);
  return device;
}

static int *ints(const int *values, int count) {
  int *device = NULL;
  cudaMalloc((void **)&device, count * sizeof(int));
  cudaMemcpy(device, values, count * sizeof(int), cudaMemcpyHostToDevice);
  return device;
}

int main(int argc, char **argv) {
  const int count = BATCH * SEQ * SIZE;
  int lengths[BATCH] = {SEQ, SEQ - 1}, low[SEQ], high[SEQ];
  for (int t = 0; t < SEQ; ++t) {
    low[t] = 0;
    high[t] = argc > 1 ? t + 1 : SEQ;
  }
  check(cudnnCreate(&handle));
  cudnnSeqDataDescriptor_t seq = sequence(lengths);
  cudnnAttnDescriptor_t attn;
  check(cudnnCreateAttnDescriptor(&attn));
  check(cudnnSetAttnDescriptor(attn, CUDNN_ATTN_QUERYMAP_ALL_TO_ONE | CUDNN_ATTN_DISABLE_PROJ_BIASES,
                               1, 1.0 / sqrt((double)SIZE), CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
                               CUDNN_DEFAULT_MATH, NULL, NULL, SIZE, SIZE, SIZE, 0, 0, 0, 0, SEQ, SEQ,
                               BATCH, 1));
  size_t weights, work, reserve;
  check(cudnnGetMultiHeadAttnBuffers(handle, attn, &weights, &work, NULL));
  void *workspace = NULL;
  if (work) cudaMalloc(&workspace, work);
  float *q = fill(count, 0.3f, 0.0f), *k = fill(count, 0.7f, 1.0f), *v = fill(count, 1.1f, 2.0f), *o;
  cudaMalloc((void **)&o, count * sizeof(float));
  cudaMemset(o, 0, count * sizeof(float));
  int *device_lengths = ints(lengths, BATCH);
  check(cudnnMultiHeadAttnForward(handle, attn, -1, low, high, device_lengths, device_lengths, seq, q,
                                  NULL, seq, k, seq, v, seq, o, weights, NULL, work, workspace, 0,
                                  NULL));
  float out[BATCH][SEQ][SIZE];
  cudaMemcpy(out, o, sizeof(out), cudaMemcpyDeviceToHost);
  for (int b = 0; b < BATCH; b++)
    for (int t = 0; t < lengths[b]; t++) {
      printf("%d %d:", b, t);
      for (int i = 0; i < SIZE; i++) printf(" %8.4f", out[b][t][i]);
      putchar('\n');
    }
  printf("weights: %zu, checks: %d\n", weights, checks);
  cudaFree(q), cudaFree(k), cudaFree(v), cudaFree(o), cudaFree(device_lengths), cudaFree(workspace);
  check(cudnnDestroyAttnDescriptor(attn));
  check(cudnnDestroySeqDataDescriptor(seq));
  check(cudnnDestroy(handle));
  return EXIT_SUCCESS;
}
