// A transposed convolution with a class of its own, a default argument and an enum class.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

namespace net {

enum class Padding { Valid, Same };

const char *to_text(Padding p) { return p == Padding::Same ? "same" : "valid"; }

#define NET_CHECK(condition)                                                      \
  if ((condition) != CUDNN_STATUS_SUCCESS) {                                      \
    std::cerr << #condition << " failed at " << __LINE__ << std::endl;            \
    std::exit(EXIT_FAILURE);                                                      \
  }

class Upsampling {
 public:
  Upsampling(cudnnHandle_t handle, int channels, int filters, int kernel, int stride,
             Padding padding = Padding::Valid)
      : handle_(handle), channels_(channels), filters_(filters), kernel_(kernel), stride_(stride) {
    int pad = padding == Padding::Same ? (kernel - stride) / 2 : 0;
    NET_CHECK(cudnnCreateTensorDescriptor(&x_desc_));
    NET_CHECK(cudnnCreateTensorDescriptor(&y_desc_));
    NET_CHECK(cudnnCreateFilterDescriptor(&w_desc_));
    NET_CHECK(cudnnCreateConvolutionDescriptor(&conv_desc_));
    NET_CHECK(cudnnSetFilter4dDescriptor(w_desc_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, channels_, filters_,
                                         kernel_, kernel_));
    NET_CHECK(cudnnSetConvolution2dDescriptor(conv_desc_, pad, pad, stride_, stride_, 1, 1,
                                              CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    pad_ = pad;
    std::vector<float> w(channels_ * filters_ * kernel_ * kernel_);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 5) - 1.5f;
    cudaMalloc(reinterpret_cast<void **>(&w_), w.size() * sizeof(float));
    cudaMemcpy(w_, w.data(), w.size() * sizeof(float), cudaMemcpyHostToDevice);
  }

  ~Upsampling() {
    cudaFree(w_);
    cudnnDestroyConvolutionDescriptor(conv_desc_);
    cudnnDestroyFilterDescriptor(w_desc_);
    cudnnDestroyTensorDescriptor(y_desc_);
    cudnnDestroyTensorDescriptor(x_desc_);
  }

  int output_size(int size) const { return (size - 1) * stride_ + kernel_ - 2 * pad_; }

  std::vector<float> forward(const std::vector<float> &x, int size) {
    int out = output_size(size);
    std::vector<float> y(filters_ * out * out);
    float *dx = nullptr, *dy = nullptr;
    NET_CHECK(cudnnSetTensor4dDescriptor(x_desc_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, channels_, size,
                                         size));
    NET_CHECK(cudnnSetTensor4dDescriptor(y_desc_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, filters_, out,
                                         out));
    cudaMalloc(reinterpret_cast<void **>(&dx), x.size() * sizeof(float));
    cudaMalloc(reinterpret_cast<void **>(&dy), y.size() * sizeof(float));
    cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudnnConvolutionBwdDataAlgoPerf_t perf[4];
    int count = 0;
    NET_CHECK(cudnnGetConvolutionBackwardDataAlgorithm_v7(handle_, w_desc_, x_desc_, conv_desc_, y_desc_, 4,
                                                          &count, perf));
    if (count == 0 || perf[0].status != CUDNN_STATUS_SUCCESS) return {};
    void *work = nullptr;
    if (perf[0].memory > 0) cudaMalloc(&work, perf[0].memory);
    const float alpha = 1.0f, beta = 0.0f;
    NET_CHECK(cudnnConvolutionBackwardData(handle_, &alpha, w_desc_, w_, x_desc_, dx, conv_desc_,
                                           perf[0].algo, work, perf[0].memory, &beta, y_desc_, dy));
    cudaMemcpy(y.data(), dy, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(work);
    cudaFree(dy);
    cudaFree(dx);
    return y;
  }

 private:
  cudnnHandle_t handle_;
  int channels_, filters_, kernel_, stride_, pad_ = 0;
  cudnnTensorDescriptor_t x_desc_, y_desc_;
  cudnnFilterDescriptor_t w_desc_;
  cudnnConvolutionDescriptor_t conv_desc_;
  float *w_ = nullptr;
};

}  // namespace net

int main() {
  cudnnHandle_t handle;
  NET_CHECK(cudnnCreate(&handle));
  {
    net::Padding both[] = {net::Padding::Valid, net::Padding::Same};
    for (net::Padding padding : both) {
      net::Upsampling up(handle, 2, 3, 4, 2, padding);
      std::vector<float> x(2 * 3 * 3);
      for (int i = 0; i < 18; ++i) x[i] = 0.5f * i - 4;
      std::vector<float> y = up.forward(x, 3);
      double sum = 0;
      for (float v : y) sum += v * v;
      std::cout << net::to_text(padding) << ": " << up.output_size(3) << ", squares " << std::fixed
                << std::setprecision(2) << sum << ", middle " << y[y.size() / 2] << std::endl;
    }
  }
  NET_CHECK(cudnnDestroy(handle));
  return 0;
}
