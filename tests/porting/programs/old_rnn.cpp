#include <cudnn.h>

class LSTM {
 public:
  void setup() {
    cudnnCreateRNNDescriptor(&rnn_);
    cudnnSetRNNDescriptor_v6(handle_, rnn_, 128, 2, drop_, CUDNN_LINEAR_INPUT,
                             CUDNN_UNIDIRECTIONAL, CUDNN_LSTM, CUDNN_RNN_ALGO_STANDARD,
                             CUDNN_DATA_FLOAT);
    cudnnGetRNNParamsSize(handle_, rnn_, x_[0], &weights_bytes_, CUDNN_DATA_FLOAT);
    cudnnGetRNNWorkspaceSize(handle_, this->rnn_, 10, x_, &workspace_bytes_);
  }
  void forward(float *x, float *y);

 private:
  cudnnHandle_t handle_;
  cudnnRNNDescriptor_t rnn_;
  cudnnDropoutDescriptor_t drop_;
  cudnnTensorDescriptor_t x_[10];
  cudnnPersistentRNNPlan_t plan_;
  size_t weights_bytes_, workspace_bytes_;
};

int version() { return cudnnOpsInferVersionCheck() + CUDNN_CNN_TRAIN_MAJOR; }
