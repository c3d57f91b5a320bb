// CTC loss and its gradient for two sequences.
#include <cuda_runtime.h>
#include <cudnn.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <numeric>
#include <algorithm>

using namespace std;

#define cudnnErrCheck(stat) { cudnnErrCheck_((stat), __FILE__, __LINE__); }
void cudnnErrCheck_(cudnnStatus_t stat, const char *file, int line) {
  if (stat != CUDNN_STATUS_SUCCESS) {
    fprintf(stderr, "cuDNN Error: %s %s %d\n", cudnnGetErrorString(stat), file, line);
    exit(1);
  }
}

struct Problem {
  int steps = 6;
  int batch = 2;
  int classes = 4;
  vector<int> labels;
  vector<int> label_lengths;
  vector<int> input_lengths;
  int size() const { return steps * batch * classes; }
};

int main() {
  Problem p;
  for (int l : {1, 2, 2, 3}) p.labels.push_back(l);
  p.label_lengths = {2, 2};
  p.input_lengths = {6, 5};
  if (accumulate(p.label_lengths.begin(), p.label_lengths.end(), 0) != (int)p.labels.size()) return 1;

  vector<float> activations(p.size());
  for (int t = 0; t < p.steps; t++)
    for (int n = 0; n < p.batch; n++)
      for (int c = 0; c < p.classes; c++)
        activations[(t * p.batch + n) * p.classes + c] = ((5 * t + 3 * n + 7 * c) % 9) / 4.f - 1.f;

  cudnnHandle_t handle;
  cudnnErrCheck(cudnnCreate(&handle));
  cudnnTensorDescriptor_t probs;
  int dims[] = {p.steps, p.batch, p.classes};
  int strides[] = {p.batch * p.classes, p.classes, 1};
  cudnnErrCheck(cudnnCreateTensorDescriptor(&probs));
  cudnnErrCheck(cudnnSetTensorNdDescriptor(probs, CUDNN_DATA_FLOAT, 3, dims, strides));
  cudnnCTCLossDescriptor_t ctc;
  cudnnErrCheck(cudnnCreateCTCLossDescriptor(&ctc));
  cudnnErrCheck(cudnnSetCTCLossDescriptorEx(ctc, CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX,
                                            CUDNN_NOT_PROPAGATE_NAN));
  size_t bytes;
  cudnnErrCheck(cudnnGetCTCLossWorkspaceSize(handle, probs, probs, p.labels.data(),
                                             p.label_lengths.data(), p.input_lengths.data(),
                                             CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, ctc, &bytes));
  float *d_x, *d_costs, *d_dx;
  void *d_work = nullptr;
  cudaMalloc(&d_x, p.size() * sizeof(float));
  cudaMalloc(&d_dx, p.size() * sizeof(float));
  cudaMalloc(&d_costs, p.batch * sizeof(float));
  if (bytes > 0) cudaMalloc(&d_work, bytes);
  cudaMemset(d_dx, 0, p.size() * sizeof(float));  // what lies behind a sequence is not written
  cudaMemcpy(d_x, activations.data(), p.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudnnErrCheck(cudnnCTCLoss(handle, probs, d_x, p.labels.data(), p.label_lengths.data(),
                             p.input_lengths.data(), d_costs, probs, d_dx,
                             CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, ctc, d_work, bytes));
  vector<float> costs(p.batch), gradient(p.size());
  cudaMemcpy(&costs[0], d_costs, p.batch * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(&gradient[0], d_dx, gradient.size() * sizeof(float), cudaMemcpyDeviceToHost);
  printf("costs: %.4f %.4f\n", costs[0], costs[1]);
  for (int t = 0; t < p.steps; t += 2) {
    printf("t=%d:", t);
    for (int i = 0; i < p.batch * p.classes; i++) printf(" %7.4f", gradient[t * p.batch * p.classes + i]);
    puts("");
  }
  float largest = *max_element(gradient.begin(), gradient.end());
  printf("largest %.4f\n", largest);
  cudaFree(d_x); cudaFree(d_dx); cudaFree(d_costs); cudaFree(d_work);
  cudnnDestroyCTCLossDescriptor(ctc);
  cudnnDestroyTensorDescriptor(probs);
  cudnnDestroy(handle);
  return 0;
}
