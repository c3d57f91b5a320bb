/* Forms that programs take: tables, nested aggregates, macros of macros, casts of memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN(a, b) a##b
#define STRING(x) #x
#define TEXT(x) STRING(x)
#define ROWS 2
#define COLS 3
#define AT(m, r, c) (m)[(r) * COLS + (c)]
#define FOR_EACH(i, n) for (int i = 0; i < (n); i++)
#define SWAP(type, a, b) \
  do {                   \
    type t_ = (a);       \
    (a) = (b);           \
    (b) = t_;            \
  } while (0)
#ifdef NEVER
#error "not here"
#endif
#if ROWS > 1 && defined(COLS)
#define KIND "wide"
#else
#define KIND "narrow"
#endif

enum state { IDLE = 1, BUSY = IDLE << 2, DONE, COUNT };

typedef struct node {
  int value;
  struct node *next;
} Node;

typedef struct {
  const char *name;
  int dims[4];
  enum state state;
} Entry;

static const Entry table[] = {
    {"conv", {1, 2, 3, 4}, IDLE},
    {"pool", {5, 6}, BUSY},
};
static int histogram[COUNT];
static float cache[ROWS][COLS];
static Entry current;

static void accumulate(float m[][COLS], int rows, float by) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < COLS; c++) m[r][c] += by * (r + 1) + c;
}

static double dot(const double *a, const double *b, size_t n) {
  double s = 0.0;
  for (size_t i = 0; i < n; ++i) s += a[i] * b[i];
  return s;
}

static Node *push(Node *head, int value) {
  Node *node = (Node *)malloc(sizeof(Node));
  node->value = value;
  node->next = head;
  return node;
}

static const char *describe(enum state s) {
  switch (s) {
    case IDLE: return "idle";
    case BUSY: return "busy";
    case DONE: return "done";
    default: return "?";
  }
}

static uint8_t checksum(const void *data, size_t size) {
  const uint8_t *bytes = (const uint8_t *)data;
  uint8_t sum = 0;
  while (size--) sum = (uint8_t)(sum * 31 + *bytes++);
  return sum;
}

static int hash(const char *s) {
  int h = 7;
  for (int i = 0; s[i] != '\0'; i++) h = h * 31 + s[i];
  return h;
}

static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

int main(void) {
  int value_a = 4, value_b = 9;
  SWAP(int, value_a, value_b);
  printf("%d %d %s %s\n", JOIN(value_, a), value_b, TEXT(ROWS), KIND);
  FOR_EACH(i, ROWS) {
    const Entry *e = &table[i];
    histogram[e->state] += e->dims[1];
    printf("%s %s %d\n", e->name, describe(e->state), e->dims[2]);
  }
  FOR_EACH(i, COUNT) printf("%d ", histogram[i]);
  printf("%d\n", (int)(sizeof(table) / sizeof(table[0])));
  current = table[1];
  current.dims[3] = 70;
  printf("%d %d\n", current.dims[3], table[1].dims[3]);
  accumulate(cache, ROWS, 0.5f);
  accumulate(cache, 1, 1);
  float *flat = &cache[0][0];
  printf("%g %g %g\n", AT(flat, 0, 2), AT(flat, 1, 0), cache[1][2]);
  double a[3] = {1, 2, 3}, b[] = {0.5, 0.25, 0.125};
  printf("%g\n", dot(a, b, sizeof(b) / sizeof(double)));
  Node *head = NULL;
  for (int i = 0; i < 4; i++) head = push(head, i * i);
  int total = 0;
  for (Node *n = head; n != NULL; n = n->next) total = total * 10 + n->value;
  printf("%d\n", total);
  while (head) {
    Node *next = head->next;
    free(head);
    head = next;
  }
  float numbers[2] = {1.0f, -2.5f};
  uint32_t bits;
  memcpy(&bits, &numbers[1], sizeof(bits));
  printf("%08x %u %u\n", bits, checksum(numbers, sizeof(numbers)), checksum("ab", 2));
  printf("%d %ld\n", hash("convolution forward"), fib(15));
  int matrix[3][3], *cell = &matrix[0][0];
  for (int i = 0; i < 9; i++) *(cell + i) = i;
  int trace = 0;
  for (int i = 0; i < 3; i++) trace += matrix[i][i];
  printf("%d\n", trace);
  char word[16], *cursor = word;
  for (char c = 'a'; c <= 'e'; c++) *cursor++ = c;
  *cursor = 0;
  printf("%s %d %c\n", word, (int)(cursor - word), word[1] - 32);
  int64_t dims[5] = {2, 3, 4, 5, 6}, strides[5];
  strides[4] = 1;
  for (int d = 3; d >= 0; d--) strides[d] = strides[d + 1] * dims[d + 1];
  printf("%lld %lld\n", (long long)strides[0], (long long)strides[3]);
  float **rows = (float **)malloc(ROWS * sizeof(float *));
  for (int r = 0; r < ROWS; r++) rows[r] = cache[r];
  rows[1][1] = 42;
  printf("%g\n", cache[1][1]);
  unsigned int mask = ~0u << 4;
  printf("%x %x %d\n", mask, mask >> 28, (signed char)mask);
  int n = 3;
  int squares[n];
  for (int i = 0; i < n; i++) squares[i] = i * i;
  printf("%d\n", squares[n - 1]);
  n = -17;
  printf("%d %d %d %d\n", n / 5, n % 5, n >> 1, n & 7);
  printf("%5.1f%%|%3s|%-4d|%.3s|%*d\n", 99.5, "x", 7, "truncate", 4, 5);
  return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
