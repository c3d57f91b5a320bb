"""C source for the head of recorded C programs: macros and functions that they may need."""

from __future__ import annotations

from .recording import RELATIVE, RELATIVE_BFLOAT16, TOLERANCE

__all__ = [
    "COMPARE",
    "CUDA",
    "EXPECT",
    "FINISH",
    "HEAD",
    "READ_FILE",
    "RESERVED",
    "UPLOAD",
]

HEAD = """\
/*
 * The cuDNN calls of {program}, recorded by cudnn_ctypes {version}
 * with cuDNN {cudnn} on {device}.
 *
 * It makes the same calls{and_compares}.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>
#include <cudnn.h>
{headers}
/* The call's text begins with the function's name. */
#define CHECK(call) check((call), #call, __LINE__)

static void check(cudnnStatus_t status, const char *call, int line)
{{
    if (status != CUDNN_STATUS_SUCCESS) {{
        char reason[1024] = "";
        cudnnGetLastErrorString(reason, sizeof reason);
        fprintf(stderr, "%s:%d: %.*s: %s\\n%s\\n", __FILE__, line, (int)strcspn(call, "("), call,
                cudnnGetErrorString(status), reason);
        exit(2);
    }}
}}
"""

CUDA = """
#define CHECK_CUDA(call) check_cuda((call), #call, __LINE__)

static void check_cuda(cudaError_t error, const char *call, int line)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s:%d: %.*s: %s\\n", __FILE__, line, (int)strcspn(call, "("), call,
                cudaGetErrorString(error));
        exit(2);
    }
}
"""

FINISH = """
static int different = 0;
"""

EXPECT = """
/* A call that failed when it was recorded. */
#define EXPECT(status, call) expect((status), (call), #call, __LINE__)

static void expect(cudnnStatus_t expected, cudnnStatus_t status, const char *call, int line)
{
    int length = (int)strcspn(call, "(");
    if (status == expected) {
        printf("line %d, %.*s: %s, as expected\\n", line, length, call,
               cudnnGetErrorString(status));
    } else {
        printf("line %d, %.*s: %s, EXPECTED %s\\n", line, length, call,
               cudnnGetErrorString(status), cudnnGetErrorString(expected));
        different++;
    }
}
"""

READ_FILE = """
#ifndef DATA
#define DATA "data"
#endif

/* The contents of a file of the data, which the caller frees. */
static void *read_file(const char *name, size_t *nbytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", DATA, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(2);
    }
    long size = ftell(file);
    rewind(file);
    void *contents = malloc(size > 0 ? (size_t)size : 1);
    if (contents == NULL || fread(contents, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    *nbytes = (size_t)size;
    return contents;
}
"""

UPLOAD = """
/* Copy a file of the data to the device. */
static void upload(void *memory, const char *name)
{
    size_t nbytes;
    void *contents = read_file(name, &nbytes);
    CHECK_CUDA(cudaMemcpy(memory, contents, nbytes, cudaMemcpyHostToDevice));
    free(contents);
}
"""

COMPARE = f"""
enum type {{ BYTES, FLOAT16, BFLOAT16, FLOAT32, FLOAT64 }};

/* An element of an array, as a double. */
static double element(const void *array, enum type type, size_t i)
{{
    uint16_t half;
    uint32_t bits;
    float single;
    double number = 0;
    switch (type) {{
    case FLOAT64:
        memcpy(&number, (const char *)array + 8 * i, 8);
        return number;
    case FLOAT32:
        memcpy(&single, (const char *)array + 4 * i, 4);
        return single;
    case BFLOAT16: /* the upper half of a float */
        memcpy(&half, (const char *)array + 2 * i, 2);
        bits = (uint32_t)half << 16;
        memcpy(&single, &bits, 4);
        return single;
    case FLOAT16:
        memcpy(&half, (const char *)array + 2 * i, 2);
        int exponent = half >> 10 & 31, fraction = half & 1023;
        if (exponent == 31)
            number = fraction ? NAN : INFINITY;
        else
            number = exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24);
        return half >> 15 ? -number : number;
    default:
        return ((const unsigned char *)array)[i];
    }}
}}

/* Compare the elements of an output with the recorded ones. */
static void compare(const char *name, const void *memory, enum type type, const char *recorded)
{{
    static const size_t sizes[] = {{1, 2, 2, 4, 8}};
    size_t nbytes;
    void *expected = read_file(recorded, &nbytes), *found = malloc(nbytes);
    if (found == NULL)
        exit(2);
    CHECK_CUDA(cudaMemcpy(found, memory, nbytes, cudaMemcpyDeviceToHost));
    if (memcmp(found, expected, nbytes) == 0) {{
        printf("%s: equal\\n", name);
    }} else {{
        bool close = type != BYTES;
        double largest = 0, scale = 1;
        const double relative = type == BFLOAT16 ? {RELATIVE_BFLOAT16} : {RELATIVE};
        for (size_t i = 0; i < nbytes / sizes[type] && close; i++) {{
            double b = fabs(element(expected, type, i));
            if (isfinite(b))
                scale = fmax(scale, b);
        }}
        for (size_t i = 0; i < nbytes / sizes[type] && close; i++) {{
            double a = element(found, type, i), b = element(expected, type, i);
            if (a == b || (isnan(a) && isnan(b)))
                continue;
            double difference = fabs(a - b);
            close = isfinite(b) && difference <= {TOLERANCE} * scale + relative * fabs(b);
            largest = fmax(largest, difference);
        }}
        if (close)
            printf("%s: largest difference %.2g\\n", name, largest);
        else
            printf("%s: DIFFERENT\\n", name);
        different += !close;
    }}
    free(found);
    free(expected);
}}
"""

_WORDS = """
auto bool break case char complex const continue default do double else enum extern false float for
goto if inline int long register restrict return short signed sizeof static struct switch true
typedef union unsigned void volatile while NULL NAN INFINITY
main check check_cuda expect different read_file upload compare element type data stream text length
BYTES FLOAT16 BFLOAT16 FLOAT32 FLOAT64 CHECK CHECK_CUDA EXPECT DATA
exp log sin cos tan pow sqrt y0 y1 yn j0 j1 jn gamma index time div abs free read write
"""

RESERVED = frozenset(_WORDS.split())
"""Words that no variable may have as its name."""
