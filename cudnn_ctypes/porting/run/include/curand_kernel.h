// Random numbers in kernels on the host, others than cuRAND's.
#pragma once
#include <curand.h>
#include <math.h>

struct curandStateXORWOW {
    unsigned long long state;
};
typedef curandStateXORWOW curandState, curandState_t, curandStateXORWOW_t;
typedef curandStateXORWOW curandStatePhilox4_32_10_t, curandStateMRG32k3a_t;

inline unsigned curand(curandState *state) { // the generator "splitmix64"
    unsigned long long z = state->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (unsigned)((z ^ z >> 31) >> 32);
}
inline void curand_init(
    unsigned long long seed, unsigned long long sequence, unsigned long long offset,
    curandState *state) {
    state->state = seed + (sequence + 1) * 0xda942042e4dd58b5ull;
    state->state += curand(state) + offset * 0x9e3779b97f4a7c15ull;
}
// Above 0, up to 1.
inline double curand_uniform_double(curandState *state) {
    return (curand(state) + 1.0) / 4294967296.0;
}
inline float curand_uniform(curandState *state) { return (float)curand_uniform_double(state); }
inline double curand_normal_double(curandState *state) {
    double radius = sqrt(-2 * log(curand_uniform_double(state)));
    return radius * cos(6.283185307179586 * curand_uniform_double(state));
}
inline float curand_normal(curandState *state) { return (float)curand_normal_double(state); }
