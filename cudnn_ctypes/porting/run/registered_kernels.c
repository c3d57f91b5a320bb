// Kernels that nvcc compiled, on the reference device: no NumPy carries them out.
//
// A program registers its kernels before main; each says its name when it is launched.

#include <stdio.h>

static struct { const void *host; const char *name; } kernels[4096];
static int kernel_count;

void **__cudaRegisterFatBinary(void *binary) {
    static void *handle;
    (void)binary;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
void __cudaRegisterVar(void) {}
char __cudaInitModule(void **handle) { (void)handle; return 1; }
void __cudaRegisterFunction(void **handle, const void *host, char *device, const char *name) {
    (void)handle;
    (void)device;
    if (kernel_count < 4096) {
        kernels[kernel_count].host = host;
        kernels[kernel_count++].name = name;
    }
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *host, int size, size_t shared, unsigned flags) {
    (void)host;
    (void)shared;
    (void)flags;
    *blocks = size > 0 ? 2048 / size : 0; // by the threads of a multiprocessor alone
    return 0;
}
unsigned __cudaPushCallConfiguration(void) { return 0; }
int __cudaPopCallConfiguration(void) { return 0; }
int cudaLaunchKernel(const void *host) {
    const char *name = "a kernel";
    for (int i = 0; i < kernel_count; i++)
        if (kernels[i].host == host) name = kernels[i].name;
    fprintf(stderr,
            "cudnn-ctypes: %s: a kernel that nvcc compiled needs a GPU; cudnn-ctypes build compiles "
            "kernels for the reference device\n", name);
    return 98; // cudaErrorInvalidDeviceFunction
}

// The same in programs of CUDA 13, whose kernels have handles.
int __cudaGetKernel(const void **kernel, const void *host) {
    *kernel = host;
    return 0;
}
int __cudaLaunchKernel(const void *kernel) { return cudaLaunchKernel(kernel); }
