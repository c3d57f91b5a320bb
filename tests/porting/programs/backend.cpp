#include <cudnn.h>
#include <cstdint>

void describe(cudnnBackendDescriptor_t tensor, cudnnBackendDescriptor_t matmul) {
  int64_t dtype = CUDNN_DATA_HALF;
  int is_virtual = 1;
  int alignment = 16;
  int64_t dims[] = {1, 2, 3}, uid = 'x';
  float axis = 1;
  cudnnDataType_t right = CUDNN_DATA_FLOAT;
  bool yes = true;
  cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &dtype);
  cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
  cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
  cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
  cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_FLOAT, 3, dims);
  cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 3, dims);
  cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &right);
  cudnnBackendSetAttribute(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
}

void choose(cudnnBackendDescriptor_t heuristics, cudnnBackendDescriptor_t *configs) {
  int64_t count = 0;
  cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, 8, &count, configs);
  cudnnBackendFinalize(configs[0]);
}

void choose_well(cudnnBackendDescriptor_t heuristics, cudnnBackendDescriptor_t *configs) {
  int64_t count = 0;
  cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, 8, &count, configs);
  if (count == 0) return;
  cudnnBackendFinalize(configs[0]);
}
