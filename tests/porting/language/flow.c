/* Loops, switch, goto, conditions with assignments. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                              \
  do {                                        \
    if (!(x)) {                               \
      printf("failed: %s\n", #x);             \
      goto cleanup;                           \
    }                                         \
  } while (0)
#define WHERE (__LINE__ * 2)
#define LOG(...) printf("log: " __VA_ARGS__)

static int classify(int n) {
  switch (n) {
    case 0:
    case 1:
      return 10;
    case 2:
      n += 5;
    case 3:
      n += 100;
      break;
    default: {
      if (n > 50) break;
      n = -n;
    }
  }
  return n;
}

static int collatz(int n) {
  int steps = 0;
  do {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  } while (n != 1);
  return steps;
}

static int calls = 0;
static int next(void) { return ++calls; }

static int counter(void) {
  static int count = 40;
  count += 1;
  return count;
}

typedef struct {
  int n, *items;
} Bag;

static Bag bag = {8, NULL};
static int limit = 6;
static void lower(void) { limit--; }
static void halve(int *n) { *n /= 2; }

int main(void) {
  for (int i = -1; i < 5; i++) printf("%d ", classify(i));
  printf("%d\n", classify(60));
  printf("%d\n", collatz(27));
  int i, j, found = -1;
  for (i = 0; i < 10 && found < 0; i++)
    for (j = 0; j < 10; j++) {
      if (i * j == 42) {
        found = i * 10 + j;
        break;
      }
      if (j > i) continue;
    }
  printf("%d %d\n", found, i);
  int value;
  while ((value = next()) < 4) printf("v%d ", value);
  printf("%d\n", value);
  if ((value = next()) == 5 || next() == 0) printf("%d\n", calls);
  for (;;) {
    if (calls++ > 8) break;
  }
  printf("%d %d\n", calls, counter());
  printf("%d\n", counter());
  for (i = 10; i > 0; i -= 3) printf("%d ", i);
  printf("%d\n", i);
  int k = 0;
  for (int n = 5; n--;) k += n;
  printf("%d\n", k);
  unsigned step = 0;
  for (unsigned u = 1; u < 100; u *= 2) step++;
  printf("%u\n", step);
  LOG("%d %d\n", 1, 2);
  LOG("done\n");
  int t = 0;
  {
    int t = 5;
    printf("%d ", t);
  }
  printf("%d\n", t);
  for (int n = 0; n < 6; n++) {
    switch (n % 3) {
      case 0:
        continue;
      case 1:
        t += n;
        break;
      default:
        t += 100;
        break;
    }
    t += 1000;
  }
  printf("%d\n", t);
  int odd = 0, all = 0;
  do {
    all++;
    if (all % 2) continue;
    odd += all;
  } while (all < 7);
  printf("%d %d %d\n", all, odd, WHERE);
  switch (t) {
    default:
      printf("only %d\n", t > 0);
  }
  for (int n = 0; n < limit; n++) lower();
  int bound = 9, *to_bound = &bound;
  for (int n = 0; n < bound; n++) --*to_bound;
  printf("%d %d\n", limit, bound);
  for (int n = 0; n < bound; n++) halve(&bound);
  int sizes[2] = {8, 1};
  for (int n = 0; n < sizes[0]; n++) sizes[0] -= sizes[1];
  int at, passes = 0, *to_at = &at;
  for (at = 0; at < 9; at++) passes += ++*to_at;
  printf("%d %d %d %d\n", bound, sizes[0], at, passes);
  int *to_sizes = sizes, *into = &bag.n;
  Bag *to_bag = &bag;
  for (int n = 0; n < *to_at; n++) at--;
  for (int n = 0; n < sizes[0]; n++) to_sizes[0]--;
  for (int n = 0; n < bag.n; n++) --*into;
  printf("%d %d %d ", at, sizes[0], bag.n);
  for (int n = 0; n < to_sizes[0]; n++) sizes[0]--;
  for (int n = 0; n < to_bag->n; n++) bag.n--;
  bag.items = &sizes[1];
  sizes[1] = 6;
  for (int n = 0; n < sizes[1]; n++) bag.items[0]--;
  printf("%d %d %d\n", sizes[0], bag.n, sizes[1]);
  int *memory = malloc(4);
  CHECK(memory != NULL);
  CHECK(t == 0);
  printf("not reached\n");
cleanup:
  free(memory);
  printf("cleaned up\n");
  return 3;
}
