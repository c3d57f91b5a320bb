// CUDA kernels on the host: each thread of a grid is a call of the kernel's function.
//
// The blocks of a grid run one after the other. The threads of a block run one after the other on
// one stack, until one waits for others (__syncthreads, shuffles): from then on each has a stack.

#pragma once

#ifdef __cplusplus
#define __DEVICE_LAUNCH_PARAMETERS_H__ // it declares threadIdx as a constant
#include <cuda_runtime.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include <ucontext.h>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __launch_bounds__
#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __constant__
#define __managed__
#define __launch_bounds__(...)

inline thread_local uint3 threadIdx{}, blockIdx{};
inline thread_local dim3 blockDim, gridDim;
constexpr int warpSize = 32;

extern "C" int cudnn_ctypes_launch(const char *, const unsigned *, size_t, void **, int);

namespace cudnn_ctypes {

enum Wait { running, at_block, at_warp, finished };

struct Fibre {
    static constexpr size_t stack_size = 256 << 10;
    ucontext_t context;
    std::unique_ptr<char[]> stack{new char[stack_size]};
    unsigned thread = 0; // its number in the block
    Wait state = finished;
};

// The block that runs now, in this thread of the program.
struct Block {
    std::vector<char> dynamic;
    std::vector<std::unique_ptr<Fibre>> fibres;
    Fibre *current = nullptr;
    ucontext_t scheduler;
    unsigned next = 0, count = 0;
    void (*call)(void *) = nullptr;
    void *kernel = nullptr;
    struct Slot { alignas(16) char bytes[16]; } exchange[1024];

    void begin(unsigned number) {
        current->thread = number;
        current->state = running;
        place(number);
    }
    void place(unsigned number) {
        threadIdx.x = number % blockDim.x;
        threadIdx.y = number / blockDim.x % blockDim.y;
        threadIdx.z = number / blockDim.x / blockDim.y;
    }
    void work() {
        while (next < count) {
            begin(next++);
            call(kernel);
        }
        current->state = finished;
    }
    void wait(Wait where) {
        Fibre *self = current;
        self->state = where;
        swapcontext(&self->context, &scheduler);
    }
    void resume(Fibre &fibre) {
        current = &fibre;
        fibre.state = running;
        place(fibre.thread);
        swapcontext(&scheduler, &fibre.context);
    }
    void run();
    bool resume_warps(size_t used);
};

inline thread_local Block block;

inline void fibre_main() {
    block.work();
}

inline void Block::run() {
    size_t used = 0;
    next = 0;
    while (next < count) {
        if (used == fibres.size()) fibres.emplace_back(new Fibre);
        Fibre &fibre = *fibres[used++];
        getcontext(&fibre.context);
        fibre.context.uc_stack.ss_sp = fibre.stack.get();
        fibre.context.uc_stack.ss_size = Fibre::stack_size;
        fibre.context.uc_link = &scheduler;
        makecontext(&fibre.context, fibre_main, 0);
        current = &fibre;
        swapcontext(&scheduler, &fibre.context);
    }
    for (;;) {
        if (resume_warps(used)) continue;
        bool waited = false;
        for (size_t i = 0; i < used; i++)
            if (fibres[i]->state == at_block) {
                resume(*fibres[i]);
                waited = true;
            }
        if (!waited) return;
    }
}

// Threads that wait for their warp go on when no thread of it runs.
inline bool Block::resume_warps(size_t used) {
    std::vector<Fibre *> ready;
    for (size_t i = 0; i < used; i++)
        if (fibres[i]->state == at_warp) ready.push_back(fibres[i].get());
    for (Fibre *each : ready) resume(*each);
    return !ready.empty();
}

struct Configuration {
    dim3 grid, block;
    size_t shared;
    Configuration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr)
        : grid(grid), block(block), shared(shared) {}
};

template <class T> void *address_of(T *value) { return (void *)value; }
template <class T> void *address_of(const T &) { return nullptr; }

// Run a kernel: `call` takes the arguments, which are evaluated once.
template <class Call, class... Arguments>
void launch(const char *name, Configuration how, Call call, Arguments... arguments) {
    unsigned shape[] = {how.grid.x, how.grid.y, how.grid.z, how.block.x, how.block.y, how.block.z};
    void *pointers[] = {address_of(arguments)..., nullptr};
    if (cudnn_ctypes_launch(name, shape, how.shared, pointers, sizeof...(arguments))) return;
    auto kernel = [&] { call(arguments...); };
    gridDim = how.grid;
    blockDim = how.block;
    block.count = how.block.x * how.block.y * how.block.z;
    block.dynamic.assign(how.shared + 16, 0);
    block.kernel = &kernel;
    block.call = [](void *function) { (*static_cast<decltype(kernel) *>(function))(); };
    for (unsigned z = 0; z < how.grid.z; z++)
        for (unsigned y = 0; y < how.grid.y; y++)
            for (unsigned x = 0; x < how.grid.x; x++) {
                blockIdx.x = x;
                blockIdx.y = y;
                blockIdx.z = z;
                block.run();
            }
}

// `extern __shared__ T name[];`
template <class T> struct Shared {
    operator T *() const { return reinterpret_cast<T *>(block.dynamic.data()); }
    template <class U> explicit operator U *() const {
        return reinterpret_cast<U *>(block.dynamic.data());
    }
};

template <class T> T exchanged(T value, unsigned lane, bool valid) {
    static_assert(sizeof(T) <= 16, "a shuffle of more than 16 bytes");
    unsigned self = block.current->thread;
    std::memcpy(block.exchange[self].bytes, &value, sizeof value);
    block.wait(at_warp);
    unsigned from = (self & ~31u) + lane;
    T result = value;
    if (valid && from < block.count) std::memcpy(&result, block.exchange[from].bytes, sizeof value);
    block.wait(at_warp);
    return result;
}

inline unsigned lane() { return block.current->thread % 32; }

} // namespace cudnn_ctypes

// --- waiting -------------------------------------------------------------------------------------

inline void __syncthreads() { ::cudnn_ctypes::block.wait(::cudnn_ctypes::at_block); }
inline void __syncwarp(unsigned = ~0u) { ::cudnn_ctypes::block.wait(::cudnn_ctypes::at_warp); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

template <class T> T __shfl_sync(unsigned, T value, int lane, int width = 32) {
    unsigned self = ::cudnn_ctypes::lane(), first = self / width * width;
    return ::cudnn_ctypes::exchanged(value, first + (unsigned)lane % width, true);
}
template <class T> T __shfl_down_sync(unsigned, T value, unsigned by, int width = 32) {
    unsigned self = ::cudnn_ctypes::lane();
    return ::cudnn_ctypes::exchanged(value, self + by, self % width + by < (unsigned)width);
}
template <class T> T __shfl_up_sync(unsigned, T value, unsigned by, int width = 32) {
    unsigned self = ::cudnn_ctypes::lane();
    return ::cudnn_ctypes::exchanged(value, self - by, self % width >= by);
}
template <class T> T __shfl_xor_sync(unsigned, T value, int mask, int width = 32) {
    unsigned self = ::cudnn_ctypes::lane(), other = self ^ mask;
    return ::cudnn_ctypes::exchanged(value, other, other / width == self / width);
}
template <class T> T __shfl(T value, int lane, int width = 32) {
    return __shfl_sync(~0u, value, lane, width);
}
template <class T> T __shfl_down(T value, unsigned by, int width = 32) {
    return __shfl_down_sync(~0u, value, by, width);
}
template <class T> T __shfl_up(T value, unsigned by, int width = 32) {
    return __shfl_up_sync(~0u, value, by, width);
}
template <class T> T __shfl_xor(T value, int mask, int width = 32) {
    return __shfl_xor_sync(~0u, value, mask, width);
}

// --- atomics: threads run in turns, so that plain code is atomic ---------------------------------

#define CUDNN_CTYPES_ATOMIC(NAME, NEW)                                                             \
    template <class T, class U> T NAME(T *address, U given) {                                      \
        T old = *address, value = (T)given;                                                        \
        *address = NEW;                                                                            \
        return old;                                                                                \
    }
CUDNN_CTYPES_ATOMIC(atomicAdd, old + value)
CUDNN_CTYPES_ATOMIC(atomicSub, old - value)
CUDNN_CTYPES_ATOMIC(atomicExch, value)
CUDNN_CTYPES_ATOMIC(atomicMin, value < old ? value : old)
CUDNN_CTYPES_ATOMIC(atomicMax, old < value ? value : old)
CUDNN_CTYPES_ATOMIC(atomicAnd, old & value)
CUDNN_CTYPES_ATOMIC(atomicOr, old | value)
CUDNN_CTYPES_ATOMIC(atomicXor, old ^ value)
CUDNN_CTYPES_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
CUDNN_CTYPES_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
template <class T, class U, class V> T atomicCAS(T *address, U compare, V value) {
    T old = *address;
    if (old == (T)compare) *address = (T)value;
    return old;
}

// --- mathematics ---------------------------------------------------------------------------------

#define CUDNN_CTYPES_SAME(NAME, OTHER)                                                             \
    inline float NAME(float x) { return OTHER; }
CUDNN_CTYPES_SAME(__expf, std::exp(x))
CUDNN_CTYPES_SAME(__exp10f, std::pow(10.0f, x))
CUDNN_CTYPES_SAME(__logf, std::log(x))
CUDNN_CTYPES_SAME(__log2f, std::log2(x))
CUDNN_CTYPES_SAME(__log10f, std::log10(x))
CUDNN_CTYPES_SAME(__sinf, std::sin(x))
CUDNN_CTYPES_SAME(__cosf, std::cos(x))
CUDNN_CTYPES_SAME(__tanf, std::tan(x))
CUDNN_CTYPES_SAME(__saturatef, x > 0 ? (x < 1 ? x : 1) : 0)
CUDNN_CTYPES_SAME(__frcp_rn, 1 / x)
CUDNN_CTYPES_SAME(__fsqrt_rn, std::sqrt(x))
CUDNN_CTYPES_SAME(__frsqrt_rn, 1 / std::sqrt(x))
CUDNN_CTYPES_SAME(rsqrtf, 1 / std::sqrt(x))
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline int __mul24(int x, int y) { return x * y; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __float2int_rn(float x) { return (int)std::nearbyint(x); }
inline int __float2int_rd(float x) { return (int)std::floor(x); }
inline int __float2int_rz(float x) { return (int)x; }
inline float __int2float_rn(int x) { return (float)x; }
template <class To, class From> To cudnn_ctypes_bits(From x) {
    To result;
    std::memcpy(&result, &x, sizeof result);
    return result;
}
inline int __float_as_int(float x) { return cudnn_ctypes_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return cudnn_ctypes_bits<unsigned>(x); }
inline float __int_as_float(int x) { return cudnn_ctypes_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return cudnn_ctypes_bits<float>(x); }
inline long long __double_as_longlong(double x) { return cudnn_ctypes_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return cudnn_ctypes_bits<double>(x); }
template <class T> T __ldg(const T *address) { return *address; }
template <class T, class U, class = std::enable_if_t<std::is_arithmetic<T>::value &&
                                                     std::is_arithmetic<U>::value>>
auto min(T x, U y) -> std::common_type_t<T, U> { return y < x ? y : x; }
template <class T, class U, class = std::enable_if_t<std::is_arithmetic<T>::value &&
                                                     std::is_arithmetic<U>::value>>
auto max(T x, U y) -> std::common_type_t<T, U> { return x < y ? y : x; }

// --- what CUDA's headers give to its own compiler only -------------------------------------------

template <class T>
cudaError_t cudaMemcpyToSymbol(T &symbol, const void *source, size_t count, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    std::memcpy((char *)&symbol + offset, source, count);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *target, const T &symbol, size_t count, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    std::memcpy(target, (const char *)&symbol + offset, count);
    return cudaSuccess;
}
template <class T> cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
    *address = (void *)&symbol;
    return cudaSuccess;
}
template <class T> cudaError_t cudaFuncSetAttribute(T *, cudaFuncAttribute, int) {
    return cudaSuccess;
}
template <class T> cudaError_t cudaFuncSetCacheConfig(T *, cudaFuncCache) { return cudaSuccess; }
template <class T>
cudaError_t cudnn_ctypes_block_size(int *grid, int *block, T, size_t = 0, int most = 0) {
    *grid = 264;
    *block = most ? most : 256;
    return cudaSuccess;
}
#define cudaOccupancyMaxPotentialBlockSize cudnn_ctypes_block_size

#endif
