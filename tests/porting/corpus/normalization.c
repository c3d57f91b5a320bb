/* Local response normalization across channels and a dropout that drops nothing, as a table. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define CHANNELS 6
#define PIXELS 3

#define checkCudaErrors(err) __check((int)(err), #err, __LINE__)
static inline void __check(int err, const char *text, const int line) {
  if (0 != err) {
    fprintf(stderr, "error %d in line %i: %s\n", err, line, text);
    abort();
  }
}

struct buffers {
  float *x, *y, *dy, *dx;
  void *states, *reserve;
  size_t state_bytes, reserve_bytes;
};

static void allocate(struct buffers *b, size_t bytes) {
  float **all[] = {&b->x, &b->y, &b->dy, &b->dx};
  for (unsigned i = 0; i < 4; ++i) checkCudaErrors(cudaMalloc((void **)all[i], bytes));
}

static void release(struct buffers b) {
  cudaFree(b.x);
  cudaFree(b.y);
  cudaFree(b.dy);
  cudaFree(b.dx);
  cudaFree(b.states);
  cudaFree(b.reserve);
}

static void table(const char *title, float values[CHANNELS][PIXELS]) {
  printf("%s\n", title);
  for (int c = 0; c < CHANNELS; ++c) {
    printf("  c%d |", c);
    for (int p = 0; p < PIXELS; ++p) printf(" % .4f", values[c][p]);
    printf("\n");
  }
}

int main() {
  struct buffers b = {0};
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t desc;
  cudnnLRNDescriptor_t lrn;
  cudnnDropoutDescriptor_t dropout;
  unsigned n;
  double alpha, beta, k;
  float x[CHANNELS][PIXELS], y[CHANNELS][PIXELS];
  const float one = 1.0f, zero = 0.0f;

  for (int c = 0; c < CHANNELS; ++c)
    for (int p = 0; p < PIXELS; ++p) x[c][p] = (c + 1) * 0.5f - p * (c % 2 ? 0.75f : -0.25f);

  checkCudaErrors(cudnnCreate(&handle));
  checkCudaErrors(cudnnCreateTensorDescriptor(&desc));
  int dims[4] = {1, CHANNELS, 1, PIXELS}, strides[4] = {CHANNELS * PIXELS, PIXELS, PIXELS, 1};
  checkCudaErrors(cudnnSetTensorNdDescriptor(desc, CUDNN_DATA_FLOAT, 4, dims, strides));
  allocate(&b, sizeof(x));
  checkCudaErrors(cudaMemcpy(b.x, x, sizeof(x), cudaMemcpyHostToDevice));
  checkCudaErrors(cudaMemcpy(b.dy, x, sizeof(x), cudaMemcpyHostToDevice));

  checkCudaErrors(cudnnCreateLRNDescriptor(&lrn));
  checkCudaErrors(cudnnSetLRNDescriptor(lrn, 5, 0.75, 0.5, 2.0));
  checkCudaErrors(cudnnGetLRNDescriptor(lrn, &n, &alpha, &beta, &k));
  printf("window %u, alpha %.2f, beta %.2f, k %.1f\n", n, alpha, beta, k);
  checkCudaErrors(cudnnLRNCrossChannelForward(handle, lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, desc, b.x,
                                              &zero, desc, b.y));
  checkCudaErrors(cudaMemcpy(y, b.y, sizeof(y), cudaMemcpyDeviceToHost));
  table("forward", y);
  checkCudaErrors(cudnnLRNCrossChannelBackward(handle, lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, desc, b.y,
                                               desc, b.dy, desc, b.x, &zero, desc, b.dx));
  checkCudaErrors(cudaMemcpy(y, b.dx, sizeof(y), cudaMemcpyDeviceToHost));
  table("backward", y);

  checkCudaErrors(cudnnDropoutGetStatesSize(handle, &b.state_bytes));
  checkCudaErrors(cudnnDropoutGetReserveSpaceSize(desc, &b.reserve_bytes));
  checkCudaErrors(cudaMalloc(&b.states, b.state_bytes));
  checkCudaErrors(cudaMalloc(&b.reserve, b.reserve_bytes));
  checkCudaErrors(cudnnCreateDropoutDescriptor(&dropout));
  checkCudaErrors(cudnnSetDropoutDescriptor(dropout, handle, 0.0f, b.states, b.state_bytes, 1337ull));
  checkCudaErrors(cudnnDropoutForward(handle, dropout, desc, b.x, desc, b.y, b.reserve, b.reserve_bytes));
  checkCudaErrors(cudaMemcpy(y, b.y, sizeof(y), cudaMemcpyDeviceToHost));
  int same = 1;
  for (int i = 0; i < CHANNELS * PIXELS; ++i) same &= y[i / PIXELS][i % PIXELS] == x[i / PIXELS][i % PIXELS];
  printf("dropout of nothing keeps everything: %s\n", same ? "yes" : "no");

  release(b);
  cudnnDestroyDropoutDescriptor(dropout);
  cudnnDestroyLRNDescriptor(lrn);
  cudnnDestroyTensorDescriptor(desc);
  cudnnDestroy(handle);
  return 0;
}
