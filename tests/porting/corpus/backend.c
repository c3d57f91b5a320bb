/* A convolution by the backend API: descriptors, engine heuristics, a plan, a variant pack. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call)                                                                 \
  if ((call) != CUDNN_STATUS_SUCCESS) {                                          \
    fprintf(stderr, "line %d: %s\n", __LINE__, #call);                           \
    exit(1);                                                                     \
  }

typedef cudnnBackendDescriptor_t desc_t;

static int64_t product(const int64_t *dims, int n) {
  int64_t p = 1;
  while (n-- > 0) p *= *dims++;
  return p;
}

static desc_t make_tensor(int64_t id, const int64_t dims[4]) {
  desc_t t;
  int64_t strides[4], alignment = 16;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  strides[3] = 1;
  for (int i = 2; i >= 0; i--) strides[i] = strides[i + 1] * dims[i + 1];
  OK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &t));
  OK(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
  OK(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims));
  OK(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides));
  OK(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id));
  OK(cudnnBackendSetAttribute(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment));
  OK(cudnnBackendFinalize(t));
  return t;
}

static void *upload(int64_t count, int step, int modulus) {
  float *host = (float *)malloc(count * sizeof(float));
  for (int64_t i = 0; i < count; i++) host[i] = (float)((i * step) % modulus) / modulus - 0.5f;
  void *device;
  cudaMalloc(&device, count * sizeof(float));
  cudaMemcpy(device, host, count * sizeof(float), cudaMemcpyHostToDevice);
  free(host);
  return device;
}

int main(void) {
  cudnnHandle_t handle;
  OK(cudnnCreate(&handle));
  const int64_t x_dims[4] = {1, 16, 6, 6}, w_dims[4] = {32, 16, 3, 3}, y_dims[4] = {1, 32, 6, 6};
  desc_t x = make_tensor('x', x_dims), w = make_tensor('w', w_dims), y = make_tensor('y', y_dims);

  desc_t conv;
  int64_t spatial = 2, ones[] = {1, 1}, pads[] = {1, 1};
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  OK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, &conv));
  OK(cudnnBackendSetAttribute(conv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &spatial));
  OK(cudnnBackendSetAttribute(conv, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute));
  OK(cudnnBackendSetAttribute(conv, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1,
                              &mode));
  OK(cudnnBackendSetAttribute(conv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pads));
  OK(cudnnBackendSetAttribute(conv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pads));
  OK(cudnnBackendSetAttribute(conv, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones));
  OK(cudnnBackendSetAttribute(conv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, ones));
  OK(cudnnBackendFinalize(conv));

  desc_t op;
  float alpha = 1.0f, beta = 0.0f;
  OK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, &op));
  OK(cudnnBackendSetAttribute(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x));
  OK(cudnnBackendSetAttribute(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w));
  OK(cudnnBackendSetAttribute(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y));
  OK(cudnnBackendSetAttribute(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &conv));
  OK(cudnnBackendSetAttribute(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1,
                              &alpha));
  OK(cudnnBackendSetAttribute(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1,
                              &beta));
  OK(cudnnBackendFinalize(op));

  desc_t graph;
  desc_t ops[] = {op};
  OK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &graph));
  OK(cudnnBackendSetAttribute(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                              ops));
  OK(cudnnBackendSetAttribute(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
  OK(cudnnBackendFinalize(graph));

  desc_t heuristics;
  cudnnBackendHeurMode_t heuristic = CUDNN_HEUR_MODE_INSTANT;
  OK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristics));
  OK(cudnnBackendSetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph));
  OK(cudnnBackendSetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1,
                              &heuristic));
  OK(cudnnBackendFinalize(heuristics));

  enum { MOST = 8 };
  desc_t configs[MOST];
  int64_t count = 0;
  for (int i = 0; i < MOST; i++)
    OK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configs[i]));
  OK(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                              MOST, &count, configs));
  printf("some engine: %s\n", count > 0 ? "yes" : "no");

  desc_t plan = NULL;
  for (int64_t i = 0; i < count; i++) {
    OK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan));
    OK(cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    OK(cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &configs[i]));
    cudnnStatus_t status = cudnnBackendFinalize(plan);
    if (status == CUDNN_STATUS_SUCCESS) break;
    cudnnBackendDestroyDescriptor(plan);
    plan = NULL;
  }
  if (!plan) {
    printf("no plan\n");
    return 2;
  }
  int64_t workspace_size = 0;
  OK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, NULL,
                              &workspace_size));
  void *workspace = NULL;
  if (workspace_size > 0) cudaMalloc(&workspace, workspace_size);

  int64_t y_count = product(y_dims, 4);
  void *pointers[3] = {upload(product(x_dims, 4), 7, 23), upload(product(w_dims, 4), 5, 19), NULL};
  cudaMalloc(&pointers[2], y_count * sizeof(float));
  int64_t ids[3] = {'x', 'w', 'y'};
  desc_t pack;
  OK(cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
  OK(cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3,
                              pointers));
  OK(cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids));
  OK(cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                              &workspace));
  OK(cudnnBackendFinalize(pack));
  OK(cudnnBackendExecute(handle, plan, pack));

  float *result = (float *)malloc(y_count * sizeof(float));
  cudaMemcpy(result, pointers[2], y_count * sizeof(float), cudaMemcpyDeviceToHost);
  float sum = 0;
  for (int64_t i = 0; i < y_count; i++) sum += result[i];
  printf("%" PRId64 " values, sum %.2f, first %.3f, last %.3f\n", y_count, sum, result[0],
         result[y_count - 1]);
  free(result);
  for (int i = 0; i < 3; i++) cudaFree(pointers[i]);
  desc_t all[] = {x, w, y, conv, op, graph, heuristics, plan, pack};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) cudnnBackendDestroyDescriptor(all[i]);
  for (int i = 0; i < MOST; i++) cudnnBackendDestroyDescriptor(configs[i]);
  cudnnDestroy(handle);
  return 0;
}
