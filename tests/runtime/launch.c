// Runs the machine code of bound launches with stand-ins for Python's functions, which print.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef uint64_t word;

static word told, busy, zero, closed, pointer;
static int status[2];

static void say(int right, const char *what) { printf("%s ", right ? what : "WRONG"); }

static void *save(void) { say(1, "save"); return (void *)77; }
static void restore(void *state) { say((word)state == 77, "restore"); }
static void *from_long(long long number) { told = number; say(1, "long"); return (void *)88; }
static void *call(void *f) {
    say((word)f == 101 || (word)f == 103, (word)f == 101 ? "slow" : "late");
    return (void *)55;
}
static void *call_with(void *f, void *argument, void *end) {
    say((word)f == 102 && (word)argument == 88 && !end, "failed");
    return (void *)66;
}
static void incref(void *object) { say((word)object == 104, "incref"); }
static void decref(void *object) { say((word)object == 88 || (word)object == 55, "decref"); }

static int first(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j,
                 word k, double x, double y) {
    char aligned[16] __attribute__((aligned(16)));
    int right = a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 8 &&
                i == 9 && j == 10 && k == 11 && x == 0.5 && y == -2.5 && busy == 1;
    say(right && (word)__builtin_frame_address(0) % 16 == 0 && (word)aligned % 16 == 0, "first");
    return status[0];
}

static int second(word a) {
    say(a == 1u << 30, "second");
    if (status[1] == -1) closed = 1;
    return status[1] == -1 ? 0 : status[1];
}

int main(int count, char **arguments) {  // a file with code, and how many integers registers hold
    FILE *file = fopen(arguments[1], "rb");
    int registers = atoi(arguments[2]), stack = 11 - registers;
    char *code = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t size = fread(code, 1, 4096, file);
    __builtin___clear_cache(code, code + size);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);

    word object[200] = {0}, *table = object + 4, *at = table;
    word head[] = {(word)save,  (word)restore, (word)from_long, (word)call, (word)call_with,
                   (word)incref, (word)decref, 101, 102, 103, 104, 2, 0};
    word lists[] = {2, (word)&zero, (word)&closed, 1, (word)&pointer, 1, (word)&busy,
                    1, (word)&closed};
    double reals[8] = {0.5, -2.5};
    head[12] = sizeof head + sizeof lists;
    at = mempcpy(at, head, sizeof head);
    at = mempcpy(at, lists, sizeof lists);
    *at++ = (word)first;
    *at++ = stack + stack % 2;
    for (int i = 0; i < stack; i++) *at++ = registers + 1 + i;
    at += stack % 2;
    for (int i = 0; i < registers; i++) *at++ = i + 1;
    at = mempcpy(at, reals, sizeof reals);
    *at++ = (word)second;
    *at++ = 0;
    *at++ = 1u << 30;

    int statuses[][2] = {{0, 0}, {0, 3000}, {5, 0}, {0, -1}, {0, 0}, {0, 0}};
    for (int i = 0; i < 6; i++) {
        told = 0, zero = i == 4, pointer = i != 5, closed = 0;
        memcpy(status, statuses[i], sizeof status);
        void *result = ((void *(*)(void *, void *))code)(object, 0);
        printf("%ld %lx %ld\n", (long)result, (long)told, (long)busy);
    }
    return 0;
}
