/* Writes the weights of a small classifier to a file, reads them again and runs it.
 * usage: weights_file [file [images]] */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char magic[4];
  int32_t inputs;
  int32_t outputs;
} header_t;

typedef struct {
  int inputs, outputs;
  float *weights, *bias;
} layer_t;

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), exit(1))
#define CK(e) ((e) == 0 ? (void)0 : FAIL("%s, line %d\n", #e, __LINE__))

static void save(const char *path, int inputs, int outputs) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) FAIL("%s cannot be written\n", path);
  header_t header = {"WTS", inputs, outputs};
  fwrite(&header, sizeof(header), 1, file);
  for (int i = 0; i < inputs * outputs; ++i) {
    float value = (float)((i * i) % 7 - 3) / 4;
    fwrite(&value, sizeof(float), 1, file);
  }
  for (int o = 0; o < outputs; ++o) {
    float value = 0.125f * o;
    fwrite(&value, sizeof value, 1, file);
  }
  fclose(file);
}

static int load(const char *path, layer_t *layer) {
  header_t header;
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  if (fread(&header, sizeof(header), 1, file) != 1 || strncmp(header.magic, "WTS", 3) != 0) {
    fclose(file);
    return 0;
  }
  layer->inputs = header.inputs;
  layer->outputs = header.outputs;
  size_t count = (size_t)header.inputs * header.outputs;
  float *host = (float *)calloc(count + header.outputs, sizeof(float));
  size_t got = fread(host, sizeof(float), count + header.outputs, file);
  fclose(file);
  CK(cudaMalloc((void **)&layer->weights, count * sizeof(float)));
  CK(cudaMalloc((void **)&layer->bias, header.outputs * sizeof(float)));
  CK(cudaMemcpy(layer->weights, host, count * sizeof(float), cudaMemcpyHostToDevice));
  CK(cudaMemcpy(layer->bias, host + count, header.outputs * sizeof(float), cudaMemcpyHostToDevice));
  free(host);
  return got == count + header.outputs;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "weights.bin";
  int images = argc > 2 ? atoi(argv[2]) : 3;
  layer_t layer;
  memset(&layer, 0, sizeof(layer));
  save(path, 4, 5);
  if (!load(path, &layer)) FAIL("%s cannot be read\n", path);
  printf("%s: %d inputs, %d outputs\n", path, layer.inputs, layer.outputs);

  cudnnHandle_t h;
  cudnnTensorDescriptor_t xd, yd, bd;
  cudnnFilterDescriptor_t wd;
  cudnnConvolutionDescriptor_t cd;
  cudnnActivationDescriptor_t ad;
  CK(cudnnCreate(&h));
  CK(cudnnCreateTensorDescriptor(&xd));
  CK(cudnnCreateTensorDescriptor(&yd));
  CK(cudnnCreateTensorDescriptor(&bd));
  CK(cudnnCreateFilterDescriptor(&wd));
  CK(cudnnCreateConvolutionDescriptor(&cd));
  CK(cudnnCreateActivationDescriptor(&ad));
  CK(cudnnSetTensor4dDescriptor(xd, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, images, layer.inputs, 1, 1));
  CK(cudnnSetTensor4dDescriptor(yd, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, images, layer.outputs, 1, 1));
  CK(cudnnSetTensor4dDescriptor(bd, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, layer.outputs, 1, 1));
  CK(cudnnSetFilter4dDescriptor(wd, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, layer.outputs, layer.inputs, 1,
                                1));
  CK(cudnnSetConvolution2dDescriptor(cd, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  CK(cudnnSetActivationDescriptor(ad, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0.0));

  size_t xs = sizeof(float) * images * layer.inputs, ys = sizeof(float) * images * layer.outputs;
  float *host = (float *)malloc(ys > xs ? ys : xs), *x, *y;
  CK(cudaMalloc((void **)&x, xs));
  CK(cudaMalloc((void **)&y, ys));
  for (int n = 0; n < images; n++)
    for (int i = 0; i < layer.inputs; i++) *(host + n * layer.inputs + i) = n == i ? 2.0f : -0.5f;
  CK(cudaMemcpy(x, host, xs, cudaMemcpyHostToDevice));
  float alpha = 1, beta = 0, keep = 1;
  CK(cudnnConvolutionForward(h, &alpha, xd, x, wd, layer.weights, cd,
                             CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &beta, yd, y));
  CK(cudnnAddTensor(h, &alpha, bd, layer.bias, &keep, yd, y));
  CK(cudnnActivationForward(h, ad, &alpha, yd, y, &beta, yd, y));
  CK(cudaMemcpy(host, y, ys, cudaMemcpyDeviceToHost));
  for (int n = 0; n < images; n++) {
    char line[128] = "";
    int best = 0;
    for (int o = 0; o < layer.outputs; o++) {
      float v = host[n * layer.outputs + o];
      char word[16];
      snprintf(word, sizeof(word), "%6.3f", v);
      strcat(line, word);
      if (v > host[n * layer.outputs + best]) best = o;
    }
    printf("image %d:%s -> class %d\n", n, line, best);
  }
  remove(path);
  cudaFree(x), cudaFree(y), cudaFree(layer.weights), cudaFree(layer.bias);
  free(host);
  cudnnDestroyActivationDescriptor(ad);
  cudnnDestroyConvolutionDescriptor(cd);
  cudnnDestroyFilterDescriptor(wd);
  cudnnDestroyTensorDescriptor(bd);
  cudnnDestroyTensorDescriptor(yd);
  cudnnDestroyTensorDescriptor(xd);
  return cudnnDestroy(h) == CUDNN_STATUS_SUCCESS ? 0 : 1;
}
