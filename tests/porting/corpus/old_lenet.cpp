// The forward pass of a LeNet as programs for cuDNN 5 and 7 write it.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cassert>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

using namespace std;

#define FatalError(s)                                     \
  do {                                                    \
    stringstream _where, _message;                        \
    _where << __FILE__ << ':' << __LINE__;                \
    _message << string(s) + "\n" << _where.str();         \
    cerr << _message.str() << "\nAborting...\n";          \
    cudaDeviceReset();                                    \
    exit(1);                                              \
  } while (0)

#define checkCUDNN(status)                                        \
  do {                                                            \
    stringstream _error;                                          \
    if (status != CUDNN_STATUS_SUCCESS) {                         \
      _error << "CUDNN failure: " << cudnnGetErrorString(status); \
      FatalError(_error.str());                                   \
    }                                                             \
  } while (0)

#define checkCuda(status)                       \
  do {                                          \
    if (status != 0) FatalError("Cuda failure"); \
  } while (0)

struct Layer_t {
  int inputs;
  int outputs;
  int kernel;
  float *data_d, *bias_d;
  Layer_t(int _inputs, int _outputs, int _kernel, int seed)
      : inputs(_inputs), outputs(_outputs), kernel(_kernel) {
    int count = inputs * outputs * kernel * kernel;
    float *data_h = new float[count];
    for (int i = 0; i < count; i++) data_h[i] = ((i * seed) % 13 - 6) / 24.0f;
    checkCuda(cudaMalloc(&data_d, count * sizeof(float)));
    checkCuda(cudaMemcpy(data_d, data_h, count * sizeof(float), cudaMemcpyHostToDevice));
    float *bias_h = new float[outputs];
    for (int i = 0; i < outputs; i++) bias_h[i] = 0.01f * i;
    checkCuda(cudaMalloc(&bias_d, outputs * sizeof(float)));
    checkCuda(cudaMemcpy(bias_d, bias_h, outputs * sizeof(float), cudaMemcpyHostToDevice));
    delete[] data_h;
    delete[] bias_h;
  }
  ~Layer_t() {
    checkCuda(cudaFree(data_d));
    checkCuda(cudaFree(bias_d));
  }
};

class network_t {
  cudnnDataType_t dataType;
  cudnnTensorFormat_t tensorFormat;
  cudnnHandle_t cudnnHandle;
  cudnnTensorDescriptor_t srcTensorDesc, dstTensorDesc, biasTensorDesc;
  cudnnFilterDescriptor_t filterDesc;
  cudnnConvolutionDescriptor_t convDesc;
  cudnnPoolingDescriptor_t poolingDesc;
  cudnnActivationDescriptor_t activDesc;
  cublasHandle_t cublasHandle;

 public:
  network_t() {
    dataType = CUDNN_DATA_FLOAT;
    tensorFormat = CUDNN_TENSOR_NCHW;
    checkCUDNN(cudnnCreate(&cudnnHandle));
    checkCUDNN(cudnnCreateTensorDescriptor(&srcTensorDesc));
    checkCUDNN(cudnnCreateTensorDescriptor(&dstTensorDesc));
    checkCUDNN(cudnnCreateTensorDescriptor(&biasTensorDesc));
    checkCUDNN(cudnnCreateFilterDescriptor(&filterDesc));
    checkCUDNN(cudnnCreateConvolutionDescriptor(&convDesc));
    checkCUDNN(cudnnCreatePoolingDescriptor(&poolingDesc));
    checkCUDNN(cudnnCreateActivationDescriptor(&activDesc));
    checkCuda(cublasCreate(&cublasHandle));
  }
  ~network_t() {
    checkCUDNN(cudnnDestroyActivationDescriptor(activDesc));
    checkCUDNN(cudnnDestroyPoolingDescriptor(poolingDesc));
    checkCUDNN(cudnnDestroyConvolutionDescriptor(convDesc));
    checkCUDNN(cudnnDestroyFilterDescriptor(filterDesc));
    checkCUDNN(cudnnDestroyTensorDescriptor(biasTensorDesc));
    checkCUDNN(cudnnDestroyTensorDescriptor(dstTensorDesc));
    checkCUDNN(cudnnDestroyTensorDescriptor(srcTensorDesc));
    checkCUDNN(cudnnDestroy(cudnnHandle));
    checkCuda(cublasDestroy(cublasHandle));
  }
  void resize(int size, float **data) {
    if (*data != NULL) checkCuda(cudaFree(*data));
    checkCuda(cudaMalloc(data, size * sizeof(float)));
  }
  void addBias(const cudnnTensorDescriptor_t &desc, const Layer_t &layer, int c, float *data) {
    checkCUDNN(cudnnSetTensor4dDescriptor(biasTensorDesc, tensorFormat, dataType, 1, c, 1, 1));
    float alpha = 1.0f, beta = 1.0f;
    checkCUDNN(cudnnAddTensor(cudnnHandle, &alpha, biasTensorDesc, layer.bias_d, &beta, desc, data));
  }
  void convoluteForward(const Layer_t &conv, int &n, int &c, int &h, int &w, float *srcData,
                        float **dstData) {
    cudnnConvolutionFwdAlgo_t algo;
    checkCUDNN(cudnnSetTensor4dDescriptor(srcTensorDesc, tensorFormat, dataType, n, c, h, w));
    checkCUDNN(cudnnSetFilter4dDescriptor(filterDesc, dataType, tensorFormat, conv.outputs, conv.inputs,
                                          conv.kernel, conv.kernel));
    checkCUDNN(cudnnSetConvolution2dDescriptor_v5(convDesc, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                                  CUDNN_DATA_FLOAT));
    checkCUDNN(cudnnGetConvolution2dForwardOutputDim(convDesc, srcTensorDesc, filterDesc, &n, &c, &h, &w));
    checkCUDNN(cudnnSetTensor4dDescriptor(dstTensorDesc, tensorFormat, dataType, n, c, h, w));
    checkCUDNN(cudnnGetConvolutionForwardAlgorithm(cudnnHandle, srcTensorDesc, filterDesc, convDesc,
                                                   dstTensorDesc, CUDNN_CONVOLUTION_FWD_PREFER_FASTEST, 0,
                                                   &algo));
    resize(n * c * h * w, dstData);
    size_t sizeInBytes = 0;
    void *workSpace = NULL;
    checkCUDNN(cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle, srcTensorDesc, filterDesc, convDesc,
                                                       dstTensorDesc, algo, &sizeInBytes));
    if (sizeInBytes != 0) checkCuda(cudaMalloc(&workSpace, sizeInBytes));
    float alpha = float(1), beta = float(0);
    checkCUDNN(cudnnConvolutionForward(cudnnHandle, &alpha, srcTensorDesc, srcData, filterDesc, conv.data_d,
                                       convDesc, algo, workSpace, sizeInBytes, &beta, dstTensorDesc,
                                       *dstData));
    addBias(dstTensorDesc, conv, c, *dstData);
    if (sizeInBytes != 0) checkCuda(cudaFree(workSpace));
  }
  void poolForward(int &n, int &c, int &h, int &w, float *srcData, float **dstData) {
    checkCUDNN(cudnnSetPooling2dDescriptor_v4(poolingDesc, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 0,
                                              0, 2, 2));
    checkCUDNN(cudnnSetTensor4dDescriptor(srcTensorDesc, tensorFormat, dataType, n, c, h, w));
    checkCUDNN(cudnnGetPooling2dForwardOutputDim(poolingDesc, srcTensorDesc, &n, &c, &h, &w));
    checkCUDNN(cudnnSetTensor4dDescriptor(dstTensorDesc, tensorFormat, dataType, n, c, h, w));
    resize(n * c * h * w, dstData);
    float alpha = 1, beta = 0;
    checkCUDNN(cudnnPoolingForward(cudnnHandle, poolingDesc, &alpha, srcTensorDesc, srcData, &beta,
                                   dstTensorDesc, *dstData));
  }
  void fullyConnectedForward(const Layer_t &ip, int &n, int &c, int &h, int &w, float *srcData,
                             float **dstData) {
    assert(n == 1);
    int dim_x = c * h * w;
    int dim_y = ip.outputs;
    resize(dim_y, dstData);
    float alpha = 1.0f, beta = 1.0f;
    checkCuda(cudaMemcpy(*dstData, ip.bias_d, dim_y * sizeof(float), cudaMemcpyDeviceToDevice));
    checkCuda(cublasSgemv(cublasHandle, CUBLAS_OP_T, dim_x, dim_y, &alpha, ip.data_d, dim_x, srcData, 1,
                          &beta, *dstData, 1));
    h = 1;
    w = 1;
    c = dim_y;
  }
  void activate(int n, int c, int h, int w, float *data) {
    checkCUDNN(cudnnSetActivationDescriptor(activDesc, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0.0));
    checkCUDNN(cudnnSetTensor4dDescriptor(srcTensorDesc, tensorFormat, dataType, n, c, h, w));
    float alpha = 1, beta = 0;
    checkCUDNN(cudnnActivationForward_v4(cudnnHandle, activDesc, &alpha, srcTensorDesc, data, &beta,
                                         srcTensorDesc, data));
  }
  void softmax(int n, int c, int h, int w, float *src, float **dst) {
    resize(n * c * h * w, dst);
    checkCUDNN(cudnnSetTensor4dDescriptor(srcTensorDesc, tensorFormat, dataType, n, c, h, w));
    float alpha = 1, beta = 0;
    checkCUDNN(cudnnSoftmaxForward(cudnnHandle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &alpha,
                                   srcTensorDesc, src, &beta, srcTensorDesc, *dst));
  }
  int classify(const float *image, int size, const Layer_t &conv1, const Layer_t &conv2, const Layer_t &ip1,
               const Layer_t &ip2) {
    int n = 1, c = 1, h = size, w = size;
    float *srcData = NULL, *dstData = NULL;
    checkCuda(cudaMalloc(&srcData, size * size * sizeof(float)));
    checkCuda(cudaMemcpy(srcData, image, size * size * sizeof(float), cudaMemcpyHostToDevice));
    convoluteForward(conv1, n, c, h, w, srcData, &dstData);
    poolForward(n, c, h, w, dstData, &srcData);
    convoluteForward(conv2, n, c, h, w, srcData, &dstData);
    poolForward(n, c, h, w, dstData, &srcData);
    cout << "features: " << c << " x " << h << " x " << w << "\n";
    fullyConnectedForward(ip1, n, c, h, w, srcData, &dstData);
    activate(n, c, h, w, dstData);
    fullyConnectedForward(ip2, n, c, h, w, dstData, &srcData);
    softmax(n, c, h, w, srcData, &dstData);
    const int max_digits = 4;
    float result[max_digits];
    checkCuda(cudaMemcpy(result, dstData, max_digits * sizeof(float), cudaMemcpyDeviceToHost));
    int id = 0;
    for (int i = 1; i < max_digits; i++) {
      if (result[id] < result[i]) id = i;
    }
    cout << fixed << setprecision(4);
    for (int i = 0; i < max_digits; i++) cout << (i ? " " : "p: ") << result[i];
    cout << endl;
    checkCuda(cudaFree(srcData));
    checkCuda(cudaFree(dstData));
    return id;
  }
};

int main(int argc, char *argv[]) {
  const int size = 12;
  network_t network;
  Layer_t conv1(1, 3, 3, 5), conv2(3, 4, 2, 7), ip1(4 * 2 * 2, 6, 1, 11), ip2(6, 4, 1, 3);
  float image[size * size];
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) image[i * size + j] = (k ? i == j : (i + j) % 4 == 0) ? 1.0f : 0.0f;
    int found = network.classify(image, size, conv1, conv2, ip1, ip2);
    cout << "image " << k << " is class " << found << endl;
  }
  return argc > 5;
}
