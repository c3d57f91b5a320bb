// A recurrent network as it was written for cuDNN 7: one tensor descriptor for each step.
#include <cuda_runtime.h>
#include <cudnn.h>
#include <iostream>
#include <iomanip>
#include <cstdlib>
#include <vector>

#define CUDNN_CALL(f) { cudnnStatus_t err = (f); if (err != CUDNN_STATUS_SUCCESS) { \
    std::cout << "  Error occurred: " << err << std::endl; std::exit(1); } }

int main() {
  const int seqLength = 4, numLayers = 1, hiddenSize = 3, inputSize = 2, miniBatch = 2;
  cudnnHandle_t cudnnHandle;
  CUDNN_CALL(cudnnCreate(&cudnnHandle));

  cudnnTensorDescriptor_t *xDesc, *yDesc;
  cudnnTensorDescriptor_t hxDesc;
  xDesc = (cudnnTensorDescriptor_t *)malloc(seqLength * sizeof(cudnnTensorDescriptor_t));
  yDesc = (cudnnTensorDescriptor_t *)malloc(seqLength * sizeof(cudnnTensorDescriptor_t));
  int dimA[3];
  int strideA[3];
  for (int i = 0; i < seqLength; i++) {
    CUDNN_CALL(cudnnCreateTensorDescriptor(&xDesc[i]));
    CUDNN_CALL(cudnnCreateTensorDescriptor(&yDesc[i]));
    dimA[0] = miniBatch;
    dimA[1] = inputSize;
    dimA[2] = 1;
    strideA[0] = dimA[2] * dimA[1];
    strideA[1] = dimA[2];
    strideA[2] = 1;
    CUDNN_CALL(cudnnSetTensorNdDescriptor(xDesc[i], CUDNN_DATA_FLOAT, 3, dimA, strideA));
    dimA[1] = hiddenSize;
    strideA[0] = dimA[2] * dimA[1];
    CUDNN_CALL(cudnnSetTensorNdDescriptor(yDesc[i], CUDNN_DATA_FLOAT, 3, dimA, strideA));
  }
  dimA[0] = numLayers;
  dimA[1] = miniBatch;
  dimA[2] = hiddenSize;
  strideA[0] = dimA[2] * dimA[1];
  strideA[1] = dimA[2];
  CUDNN_CALL(cudnnCreateTensorDescriptor(&hxDesc));
  CUDNN_CALL(cudnnSetTensorNdDescriptor(hxDesc, CUDNN_DATA_FLOAT, 3, dimA, strideA));

  cudnnDropoutDescriptor_t dropoutDesc;
  CUDNN_CALL(cudnnCreateDropoutDescriptor(&dropoutDesc));
  CUDNN_CALL(cudnnSetDropoutDescriptor(dropoutDesc, cudnnHandle, 0, NULL, 0, 1337ull));
  cudnnRNNDescriptor_t rnnDesc;
  CUDNN_CALL(cudnnCreateRNNDescriptor(&rnnDesc));
  CUDNN_CALL(cudnnSetRNNDescriptor_v6(cudnnHandle, rnnDesc, hiddenSize, numLayers, dropoutDesc,
                                      CUDNN_LINEAR_INPUT, CUDNN_UNIDIRECTIONAL, CUDNN_RNN_TANH,
                                      CUDNN_RNN_ALGO_STANDARD, CUDNN_DATA_FLOAT));

  size_t weightsSize, workSize;
  CUDNN_CALL(cudnnGetRNNParamsSize(cudnnHandle, rnnDesc, xDesc[0], &weightsSize, CUDNN_DATA_FLOAT));
  CUDNN_CALL(cudnnGetRNNWorkspaceSize(cudnnHandle, rnnDesc, seqLength, xDesc, &workSize));
  int count = weightsSize / sizeof(float);
  std::cout << "weights: " << count << std::endl;
  std::vector<float> weights(count, 0.25f);

  cudnnFilterDescriptor_t wDesc;
  int dimW[3] = {count, 1, 1};
  CUDNN_CALL(cudnnCreateFilterDescriptor(&wDesc));
  CUDNN_CALL(cudnnSetFilterNdDescriptor(wDesc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 3, dimW));

  float *x, *y, *w, *hy;
  void *workspace;
  cudaMalloc((void **)&x, seqLength * inputSize * miniBatch * sizeof(float));
  cudaMalloc((void **)&y, seqLength * hiddenSize * miniBatch * sizeof(float));
  cudaMalloc((void **)&hy, numLayers * hiddenSize * miniBatch * sizeof(float));
  cudaMalloc((void **)&w, weightsSize);
  cudaMalloc(&workspace, workSize);
  std::vector<float> input(seqLength * inputSize * miniBatch);
  for (size_t i = 0; i < input.size(); i++) input[i] = (i % 5) * 0.2f - 0.3f;
  cudaMemcpy(x, &input[0], input.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(w, weights.data(), weightsSize, cudaMemcpyHostToDevice);

  CUDNN_CALL(cudnnRNNForwardInference(cudnnHandle, rnnDesc, seqLength, xDesc, x, hxDesc, NULL, hxDesc,
                                      NULL, wDesc, w, yDesc, y, hxDesc, hy, hxDesc, NULL, workspace,
                                      workSize));
  std::vector<float> output(seqLength * hiddenSize * miniBatch);
  cudaMemcpy(output.data(), y, output.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::cout << std::fixed << std::setprecision(4);
  for (int t = 0; t < seqLength; t++) {
    std::cout << "step " << t << ":";
    for (int b = 0; b < miniBatch; b++) std::cout << " " << output[(t * miniBatch + b) * hiddenSize];
    std::cout << std::endl;
  }
  for (int i = 0; i < seqLength; i++) {
    cudnnDestroyTensorDescriptor(xDesc[i]);
    cudnnDestroyTensorDescriptor(yDesc[i]);
  }
  free(xDesc);
  free(yDesc);
  cudaFree(x);
  cudaFree(y);
  cudaFree(w);
  cudaFree(hy);
  cudaFree(workspace);
  cudnnDestroyRNNDescriptor(rnnDesc);
  cudnnDestroyDropoutDescriptor(dropoutDesc);
  cudnnDestroy(cudnnHandle);
  return 0;
}
