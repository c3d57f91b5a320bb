// A matrix product by the backend API, with a class that collects attributes.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static void require(cudnnStatus_t status, const std::string &step) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", step.c_str(), cudnnGetErrorString(status));
  std::exit(1);
}

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    require(cudnnBackendCreateDescriptor(type, &desc), "create");
  }
  ~Descriptor() { cudnnBackendDestroyDescriptor(desc); }
  void ints(cudnnBackendAttributeName_t name, const std::vector<int64_t> &values) {
    require(cudnnBackendSetAttribute(desc, name, CUDNN_TYPE_INT64, values.size(), values.data()), "ints");
  }
  void type(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
    require(cudnnBackendSetAttribute(desc, name, CUDNN_TYPE_DATA_TYPE, 1, &value), "type");
  }
  void other(cudnnBackendAttributeName_t name, const Descriptor &value) {
    require(cudnnBackendSetAttribute(desc, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.desc), "other");
  }
  void handle(cudnnBackendAttributeName_t name, cudnnHandle_t value) {
    require(cudnnBackendSetAttribute(desc, name, CUDNN_TYPE_HANDLE, 1, &value), "handle");
  }
  void finish(const char *what) { require(cudnnBackendFinalize(desc), what); }

  cudnnBackendDescriptor_t desc;
};

static void tensor(Descriptor &t, int64_t uid, int64_t rows, int64_t columns) {
  t.type(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
  t.ints(CUDNN_ATTR_TENSOR_DIMENSIONS, {1, rows, columns});
  t.ints(CUDNN_ATTR_TENSOR_STRIDES, {rows * columns, columns, 1});
  t.ints(CUDNN_ATTR_TENSOR_UNIQUE_ID, {uid});
  t.ints(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
  t.finish("tensor");
}

int main() {
  const int64_t M = 8, K = 16, N = 8;
  cudnnHandle_t cudnn;
  require(cudnnCreate(&cudnn), "handle");
  Descriptor a(CUDNN_BACKEND_TENSOR_DESCRIPTOR), b(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  Descriptor c(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor(a, 'a', M, K);
  tensor(b, 'b', K, N);
  tensor(c, 'c', M, N);

  Descriptor matmul(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  matmul.type(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  matmul.finish("matmul");
  Descriptor op(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  op.other(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
  op.other(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
  op.other(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
  op.other(CUDNN_ATTR_OPERATION_MATMUL_DESC, matmul);
  op.finish("operation");
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.other(CUDNN_ATTR_OPERATIONGRAPH_OPS, op);
  graph.handle(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, cudnn);
  graph.finish("graph");

  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  heuristics.other(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  require(cudnnBackendSetAttribute(heuristics.desc, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1,
                                   &mode),
          "mode");
  heuristics.finish("heuristics");
  Descriptor config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  int64_t got = 0;
  require(cudnnBackendGetAttribute(heuristics.desc, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &got, &config.desc),
          "results");
  std::printf("configs: %s\n", got == 1 ? "one" : "none");
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.handle(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, cudnn);
  plan.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  plan.finish("plan");
  int64_t bytes = 0;
  require(cudnnBackendGetAttribute(plan.desc, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                   nullptr, &bytes),
          "workspace");
  void *work = nullptr;
  if (bytes > 0) cudaMalloc(&work, bytes);

  std::vector<float> ha(M * K), hb(K * N), hc(M * N);
  for (int i = 0; i < M * K; ++i) ha[i] = i % 5 - 2;
  for (int i = 0; i < K * N; ++i) hb[i] = i % 7 - 3;
  float *pa, *pb, *pc;
  cudaMalloc((void **)&pa, ha.size() * sizeof(float));
  cudaMalloc((void **)&pb, hb.size() * sizeof(float));
  cudaMalloc((void **)&pc, hc.size() * sizeof(float));
  cudaMemcpy(pa, ha.data(), ha.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(pb, hb.data(), hb.size() * sizeof(float), cudaMemcpyHostToDevice);
  void *pointers[] = {pa, pb, pc};
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.ints(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {'a', 'b', 'c'});
  require(cudnnBackendSetAttribute(pack.desc, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3,
                                   pointers),
          "pointers");
  require(cudnnBackendSetAttribute(pack.desc, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                                   &work),
          "workspace");
  pack.finish("pack");
  require(cudnnBackendExecute(cudnn, plan.desc, pack.desc), "execute");
  cudaMemcpy(hc.data(), pc, hc.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (int row = 0; row < M; row += 3) {
    for (int column = 0; column < N; ++column) std::printf("%5.0f", hc[row * N + column]);
    std::printf("\n");
  }
  cudaFree(pa);
  cudaFree(pb);
  cudaFree(pc);
  if (work) cudaFree(work);
  return 0;
}
