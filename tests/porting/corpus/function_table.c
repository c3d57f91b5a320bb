/* Operations of two tensors and reductions, picked from tables with functions of the host beside them. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef float (*binary_t)(float, float);

static float add(float a, float b) { return a + b; }
static float multiply(float a, float b) { return a * b; }
static float smaller(float a, float b) { return a < b ? a : b; }
static float larger(float a, float b) { return a > b ? a : b; }

static const struct {
  const char *label;
  cudnnOpTensorOp_t op;
  binary_t reference;
} operations[] = {
    {"add", CUDNN_OP_TENSOR_ADD, add},
    {"multiply", CUDNN_OP_TENSOR_MUL, multiply},
    {"min", CUDNN_OP_TENSOR_MIN, smaller},
    {"max", CUDNN_OP_TENSOR_MAX, larger},
};

static cudnnHandle_t g_handle;
static int g_failures = 0;

static void ok(cudnnStatus_t status, const char *file, int line) {
  (void)file;
  if (status == CUDNN_STATUS_SUCCESS) return;
  g_failures++;
  fprintf(stderr, "line %d: %s\n", line, cudnnGetErrorString(status));
}
#define OK(s) ok((s), __FILE__, __LINE__)

#define SHAPE 1, 3, 2, 4
#define COUNT (1 * 3 * 2 * 4)

static float compare(const float *got, const float *a, const float *b, int n, binary_t f) {
  float worst = 0;
  for (int i = 0; i < n; i++) {
    float error = fabsf(got[i] - f(a[i], b[i]));
    if (error > worst) worst = error;
  }
  return worst;
}

int main(void) {
  float a[COUNT], b[COUNT], c[COUNT], one = 1, zero = 0;
  float *da, *db, *dc;
  cudnnTensorDescriptor_t desc, single;
  cudnnOpTensorDescriptor_t op;
  for (int i = 0; i < COUNT; i++) {
    a[i] = (i * 5 % 11) - 4;
    b[i] = 0.5f * (i * 3 % 7) - 1;
  }
  OK(cudnnCreate(&g_handle));
  OK(cudnnCreateTensorDescriptor(&desc));
  OK(cudnnCreateTensorDescriptor(&single));
  OK(cudnnSetTensor4dDescriptor(desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, SHAPE));
  OK(cudnnSetTensor4dDescriptor(single, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 1, 1));
  cudaMalloc((void **)&da, sizeof a);
  cudaMalloc((void **)&db, sizeof b);
  cudaMalloc((void **)&dc, sizeof c);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  OK(cudnnCreateOpTensorDescriptor(&op));
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    OK(cudnnSetOpTensorDescriptor(op, operations[i].op, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN));
    OK(cudnnOpTensor(g_handle, op, &one, desc, da, &one, desc, db, &zero, desc, dc));
    cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
    printf("%-10s %8.3f %8.3f  error %.3f\n", operations[i].label, c[0], c[COUNT - 1],
           compare(c, a, b, COUNT, operations[i].reference));
  }
  OK(cudnnDestroyOpTensorDescriptor(op));

  cudnnReduceTensorOp_t kinds[3] = {CUDNN_REDUCE_TENSOR_ADD, CUDNN_REDUCE_TENSOR_AMAX,
                                    CUDNN_REDUCE_TENSOR_NORM2};
  for (int i = 0; i < 3; i++) {
    cudnnReduceTensorDescriptor_t reduce;
    size_t bytes = 0;
    void *work = NULL;
    OK(cudnnCreateReduceTensorDescriptor(&reduce));
    OK(cudnnSetReduceTensorDescriptor(reduce, kinds[i], CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                      CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
    OK(cudnnGetReductionWorkspaceSize(g_handle, reduce, desc, single, &bytes));
    if (bytes) cudaMalloc(&work, bytes);
    OK(cudnnReduceTensor(g_handle, reduce, NULL, 0, work, bytes, &one, desc, da, &zero, single, dc));
    cudaMemcpy(c, dc, 3 * sizeof(float), cudaMemcpyDeviceToHost);
    switch (kinds[i]) {
      case CUDNN_REDUCE_TENSOR_ADD:
        printf("sum    ");
        break;
      case CUDNN_REDUCE_TENSOR_AMAX:
        printf("largest");
        break;
      default:
        printf("norm   ");
    }
    printf(" %9.4f %9.4f %9.4f\n", c[0], c[1], c[2]);
    cudaFree(work);
    OK(cudnnDestroyReduceTensorDescriptor(reduce));
  }
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  OK(cudnnDestroyTensorDescriptor(single));
  OK(cudnnDestroyTensorDescriptor(desc));
  OK(cudnnDestroy(g_handle));
  printf("failures: %d\n", g_failures);
  return g_failures ? 1 : 0;
}
