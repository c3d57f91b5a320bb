#include <cudnn.h>
#include <vector>

// Takes the first entry unseen, and believes that _v7 measures.
cudnnConvolutionFwdAlgo_t first(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t c,
                                cudnnTensorDescriptor_t y) {
  cudnnConvolutionFwdAlgoPerf_t results[4];
  int count;
  cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, c, y, 4, &count, results);
  if (results[0].time < 1.0f) return results[0].algo;
  return results[1].algo;
}

// As it should be.
cudnnConvolutionFwdAlgo_t careful(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                  cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t c,
                                  cudnnTensorDescriptor_t y) {
  cudnnConvolutionFwdAlgoPerf_t found[4];
  int count;
  cudnnFindConvolutionForwardAlgorithm(handle, x, w, c, y, 4, &count, found);
  for (int i = 0; i < count; i++)
    if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].time > 0) return found[i].algo;
  throw 1;
}

void run(cudnnHandle_t handle, cudnnTensorDescriptor_t x, float *d_x) {
  std::vector<float> h(10);
  float *m = (float *)malloc(40), one = 1, zero = 0;
  cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE, &one, x, m,
                      &zero, x, h.data());
  cudnnStatus_t status = cudnnSetTensor(handle, x, d_x, &one);
  if (status == 3) return;
}
