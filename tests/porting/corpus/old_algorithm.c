/* Written for cuDNN 7: the algorithm is asked for with a preference and a limit. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define checkCUDNN(expression)                                  \
  {                                                             \
    cudnnStatus_t status = (expression);                        \
    if (status != CUDNN_STATUS_SUCCESS) {                       \
      printf("Error on line %d: %s\n", __LINE__,                \
             cudnnGetErrorString(status));                      \
      exit(EXIT_FAILURE);                                       \
    }                                                           \
  }

int main(int argc, const char **argv) {
  int size = argc > 1 ? atoi(argv[1]) : 8;
  const char *label = "edges";
  cudnnHandle_t cudnn;
  checkCUDNN(cudnnCreate(&cudnn));

  cudnnTensorDescriptor_t input_descriptor, output_descriptor;
  checkCUDNN(cudnnCreateTensorDescriptor(&input_descriptor));
  checkCUDNN(cudnnSetTensor4dDescriptor(input_descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1,
                                        size, size));
  cudnnFilterDescriptor_t kernel_descriptor;
  checkCUDNN(cudnnCreateFilterDescriptor(&kernel_descriptor));
  checkCUDNN(cudnnSetFilter4dDescriptor(kernel_descriptor, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1,
                                        3, 3));
  cudnnConvolutionDescriptor_t convolution_descriptor;
  checkCUDNN(cudnnCreateConvolutionDescriptor(&convolution_descriptor));
  checkCUDNN(cudnnSetConvolution2dDescriptor(convolution_descriptor, 1, 1, 1, 1, 1, 1,
                                             CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  int batch_size, channels, height, width;
  checkCUDNN(cudnnGetConvolution2dForwardOutputDim(convolution_descriptor, input_descriptor,
                                                   kernel_descriptor, &batch_size, &channels, &height,
                                                   &width));
  printf("%s: %d x %d x %d x %d\n", label, batch_size, channels, height, width);
  checkCUDNN(cudnnCreateTensorDescriptor(&output_descriptor));
  checkCUDNN(cudnnSetTensor4dDescriptor(output_descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
                                        batch_size, channels, height, width));

  cudnnConvolutionFwdAlgo_t convolution_algorithm;
  checkCUDNN(cudnnGetConvolutionForwardAlgorithm(
      cudnn, input_descriptor, kernel_descriptor, convolution_descriptor, output_descriptor,
      CUDNN_CONVOLUTION_FWD_PREFER_FASTEST, /*memoryLimitInBytes=*/0, &convolution_algorithm));
  size_t workspace_bytes = 0;
  checkCUDNN(cudnnGetConvolutionForwardWorkspaceSize(
      cudnn, input_descriptor, kernel_descriptor, convolution_descriptor, output_descriptor,
      convolution_algorithm, &workspace_bytes));

  void *d_workspace = NULL;
  if (workspace_bytes) cudaMalloc(&d_workspace, workspace_bytes);
  int image_bytes = batch_size * channels * height * width * sizeof(float);

  const float kernel_template[3][3] = {{1, 1, 1}, {1, -8, 1}, {1, 1, 1}};
  float h_kernel[1][1][3][3];
  for (int kernel = 0; kernel < 1; ++kernel) {
    for (int channel = 0; channel < 1; ++channel) {
      for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
          h_kernel[kernel][channel][row][column] = kernel_template[row][column];
        }
      }
    }
  }
  float *image = malloc(image_bytes);
  for (int row = 0; row < size; row++)
    for (int column = 0; column < size; column++)
      image[row * size + column] = row > size / 2 && column >= size / 3 ? 0.5f * row : 1;

  float *d_input = NULL, *d_output = NULL, *d_kernel = NULL;
  cudaMalloc((void **)&d_input, image_bytes);
  cudaMalloc((void **)&d_output, image_bytes);
  cudaMalloc((void **)&d_kernel, sizeof(h_kernel));
  cudaMemcpy(d_input, image, image_bytes, cudaMemcpyHostToDevice);
  cudaMemset(d_output, 0, image_bytes);
  cudaMemcpy(d_kernel, h_kernel, sizeof(h_kernel), cudaMemcpyHostToDevice);

  const float alpha = 1, beta = 0;
  checkCUDNN(cudnnConvolutionForward(cudnn, &alpha, input_descriptor, d_input, kernel_descriptor,
                                     d_kernel, convolution_descriptor, convolution_algorithm,
                                     d_workspace, workspace_bytes, &beta, output_descriptor,
                                     d_output));
  float *h_output = (float *)malloc(image_bytes);
  cudaMemcpy(h_output, d_output, image_bytes, cudaMemcpyDeviceToHost);
  for (int row = 0; row < height; row++) {
    for (int column = 0; column < width; column++)
      printf("%7.2f", h_output[row * width + column]);
    printf("\n");
  }
  free(h_output);
  free(image);
  cudaFree(d_kernel);
  cudaFree(d_input);
  cudaFree(d_output);
  cudaFree(d_workspace);
  cudnnDestroyTensorDescriptor(input_descriptor);
  cudnnDestroyTensorDescriptor(output_descriptor);
  cudnnDestroyFilterDescriptor(kernel_descriptor);
  cudnnDestroyConvolutionDescriptor(convolution_descriptor);
  cudnnDestroy(cudnn);
}
