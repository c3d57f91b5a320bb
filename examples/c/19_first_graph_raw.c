/* Example 19 in C: a convolution through the graph API, 4 x 4 pixels and a filter of 3 x 3.
 *
 *     cc 19_first_graph_raw.c -lcudnn -lcudart && ./a.out
 */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                    \
    do {                                                                               \
        cudnnStatus_t status = (call);                                                 \
        if (status != CUDNN_STATUS_SUCCESS) {                                          \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudnnGetErrorString(status));   \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

typedef cudnnBackendDescriptor_t descriptor_t;
enum { X, W, Y };

static descriptor_t create(cudnnBackendDescriptorType_t kind)
{
    descriptor_t descriptor;
    CHECK(cudnnBackendCreateDescriptor(kind, &descriptor));
    return descriptor;
}

static void put(descriptor_t descriptor, cudnnBackendAttributeName_t attribute,
                cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    CHECK(cudnnBackendSetAttribute(descriptor, attribute, type, count, values));
}

static descriptor_t tensor(int64_t uid, int64_t height, int64_t width)
{
    int64_t dims[] = {1, 1, height, width};
    int64_t strides[] = {height * width, height * width, width, 1}, alignment = 16;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    descriptor_t made = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    put(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    put(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    put(made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    put(made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims);
    put(made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
    CHECK(cudnnBackendFinalize(made));
    return made;
}

static descriptor_t convolution(void)
{
    int64_t two = 2, ones[] = {1, 1};
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    descriptor_t made = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    put(made, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two);
    put(made, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    put(made, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    put(made, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, ones);
    put(made, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, ones);
    put(made, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, ones);
    put(made, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones);
    CHECK(cudnnBackendFinalize(made));
    return made;
}

int main(void)
{
    cudnnHandle_t handle;
    CHECK(cudnnCreate(&handle));

    /* The operation, and the graph of it. */
    const cudnnBackendAttributeType_t child = CUDNN_TYPE_BACKEND_DESCRIPTOR;
    descriptor_t x = tensor(X, 4, 4), w = tensor(W, 3, 3), y = tensor(Y, 4, 4);
    descriptor_t conv = convolution();
    float one = 1, zero = 0;
    descriptor_t operation = create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    put(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, child, 1, &x);
    put(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, child, 1, &w);
    put(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, child, 1, &y);
    put(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, child, 1, &conv);
    put(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    put(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
    CHECK(cudnnBackendFinalize(operation));

    descriptor_t graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    put(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    put(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, child, 1, &operation);
    CHECK(cudnnBackendFinalize(graph));

    /* Heuristics propose engine configs, the best first; the first that gives a plan is taken. */
    cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_INSTANT;
    descriptor_t heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    put(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, child, 1, &graph);
    put(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    CHECK(cudnnBackendFinalize(heuristics));
    descriptor_t config[8], plan = NULL;
    for (int i = 0; i < 8; ++i)
        config[i] = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t count = 0;
    CHECK(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, child, 8, &count,
                                   config));
    for (int i = 0; i < count; ++i) {
        plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        put(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
        put(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, child, 1, &config[i]);
        if (cudnnBackendFinalize(plan) == CUDNN_STATUS_SUCCESS)
            break;
        CHECK(cudnnBackendDestroyDescriptor(plan));
        plan = NULL;
    }
    if (plan == NULL) {
        fprintf(stderr, "no engine computes this convolution\n");
        return 1;
    }
    int64_t size = 0;
    CHECK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                   CUDNN_TYPE_INT64, 1, &count, &size));

    /* Memory goes in by the numbers of the tensors. */
    float image[16], kernel[9], result[16];
    for (int i = 0; i < 16; ++i)
        image[i] = i + 1;
    for (int i = 0; i < 9; ++i)
        kernel[i] = i + 1;
    void *memory[3], *workspace = NULL;
    cudaMalloc(&memory[X], sizeof image);
    cudaMalloc(&memory[W], sizeof kernel);
    cudaMalloc(&memory[Y], sizeof result);
    cudaMalloc(&workspace, size > 0 ? size : 1);
    cudaMemcpy(memory[X], image, sizeof image, cudaMemcpyHostToDevice);
    cudaMemcpy(memory[W], kernel, sizeof kernel, cudaMemcpyHostToDevice);
    int64_t uids[] = {X, W, Y};
    descriptor_t pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    put(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, uids);
    put(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, memory);
    put(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    CHECK(cudnnBackendFinalize(pack));
    CHECK(cudnnBackendExecute(handle, plan, pack));

    cudaMemcpy(result, memory[Y], sizeof result, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; ++i)
        printf("%.0f %.0f %.0f %.0f\n", result[4 * i], result[4 * i + 1], result[4 * i + 2],
               result[4 * i + 3]);

    descriptor_t made[] = {pack, plan, heuristics, graph, operation, conv, y, w, x};
    for (int i = 0; i < 9; ++i)
        CHECK(cudnnBackendDestroyDescriptor(made[i]));
    for (int i = 0; i < 8; ++i)
        CHECK(cudnnBackendDestroyDescriptor(config[i]));
    cudaFree(workspace);
    for (int i = 0; i < 3; ++i)
        cudaFree(memory[i]);
    CHECK(cudnnDestroy(handle));
    return 0;
}
