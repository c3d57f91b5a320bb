/* A convolution that the command line describes, and the algorithms that cuDNN names for it.
 * usage: options [-n batch] [-c channels] [-k filters] [-s size] [-r window] [--nhwc] [-q] */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ALGOS 10

typedef enum { LAYOUT_NCHW = 0, LAYOUT_NHWC } layout_t;

struct options {
  int n, c, k, size, window;
  layout_t layout;
  int quiet;
};

static int parse(int argc, char **argv, struct options *o) {
  o->n = 2, o->c = 3, o->k = 4, o->size = 8, o->window = 3;
  o->layout = LAYOUT_NCHW;
  o->quiet = 0;
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    if (!strcmp(arg, "--nhwc")) {
      o->layout = LAYOUT_NHWC;
      continue;
    }
    if (arg[0] != '-' || strlen(arg) != 2) return -1;
    if (arg[1] == 'q') {
      o->quiet = 1;
      continue;
    }
    if (i + 1 == argc) return -1;
    int value = atoi(argv[++i]);
    switch (arg[1]) {
      case 'n': o->n = value; break;
      case 'c': o->c = value; break;
      case 'k': o->k = value; break;
      case 's': o->size = value; break;
      case 'r': o->window = value; break;
      default: return -1;
    }
  }
  return 0;
}

static const char *name_of(cudnnConvolutionFwdAlgo_t algo) {
  switch (algo) {
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM: return "IMPLICIT_GEMM";
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM: return "IMPLICIT_PRECOMP_GEMM";
    case CUDNN_CONVOLUTION_FWD_ALGO_GEMM: return "GEMM";
    default: return "another";
  }
}

static cudnnStatus_t describe(const struct options *o, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                              cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t y) {
  cudnnTensorFormat_t format = o->layout == LAYOUT_NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  cudnnStatus_t status;
  int n, k, p, q;
  if ((status = cudnnSetTensor4dDescriptor(x, format, CUDNN_DATA_FLOAT, o->n, o->c, o->size, o->size)))
    return status;
  if ((status = cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, format, o->k, o->c, o->window, o->window)))
    return status;
  if ((status = cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                                CUDNN_DATA_FLOAT)))
    return status;
  status = cudnnGetConvolution2dForwardOutputDim(conv, x, w, &n, &k, &p, &q);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (!o->quiet) printf("output %d %d %d %d\n", n, k, p, q);
  return cudnnSetTensor4dDescriptor(y, format, CUDNN_DATA_FLOAT, n, k, p, q);
}

int main(int argc, char **argv) {
  struct options o;
  if (parse(argc, argv, &o)) {
    fprintf(stderr, "usage: %s [-n batch] [-c channels] [-k filters] [-s size] [-r window]\n", argv[0]);
    return 64;
  }
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t x, y;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t conv;
  if (cudnnCreate(&handle) || cudnnCreateTensorDescriptor(&x) || cudnnCreateTensorDescriptor(&y) ||
      cudnnCreateFilterDescriptor(&w) || cudnnCreateConvolutionDescriptor(&conv)) {
    fputs("no cuDNN\n", stderr);
    return 1;
  }
  cudnnStatus_t status = describe(&o, x, w, conv, y);
  printf("%dx%dx%dx%d %s: %s\n", o.n, o.c, o.size, o.size, o.layout ? "NHWC" : "NCHW",
         status ? "refused" : "described");
  cudnnConvolutionFwdAlgoPerf_t perf[MAX_ALGOS];
  int most = 0, got = 0, usable = 0;
  cudnnGetConvolutionForwardAlgorithmMaxCount(handle, &most);
  if (most > MAX_ALGOS) most = MAX_ALGOS;
  if (cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, conv, y, most, &got, perf) == 0) {
    for (int i = 0; i < got; i++) usable += perf[i].status == CUDNN_STATUS_SUCCESS;
  }
  printf("named some: %s, some usable: %s\n", got > 0 ? "yes" : "no", usable ? "yes" : "no");
  size_t bytes = 1;
  status = cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, conv, y,
                                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, &bytes);
  printf("%s needs no memory: %d\n", name_of(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM),
         status == CUDNN_STATUS_SUCCESS && bytes == 0);
  status = cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, -1, 1, 1);
  printf("a negative size: %s\n", status == CUDNN_STATUS_BAD_PARAM ? "bad parameter" : "taken");
  cudnnDestroyConvolutionDescriptor(conv);
  cudnnDestroyFilterDescriptor(w);
  cudnnDestroyTensorDescriptor(y);
  cudnnDestroyTensorDescriptor(x);
  cudnnDestroy(handle);
  return 0;
}
