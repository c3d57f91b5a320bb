/* Division, remainders, shifts, widths and conversions of integers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 7
#define AREA (SIDE * SIDE)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SQUARE(x) ((x) * (x))

static uint32_t state = 2463534242u;

static uint32_t xorshift(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

static unsigned long long fnv(const char *text) {
  unsigned long long hash = 14695981039346656037ULL;
  while (*text) {
    hash ^= (unsigned char)*text++;
    hash *= 1099511628211ULL;
  }
  return hash;
}

static int lcg(int seed) { return (seed * 1103515245 + 12345) & 0x7fffffff; }

int main(void) {
  int a = -7, b = 2;
  printf("%d %d %d %d\n", a / b, a % b, -a / b, a / -b);
  for (int i = -3; i <= 3; i++) printf("%d ", i / 2);
  printf("\n%d %d\n", AREA, MAX(SQUARE(3), AREA - 41));
  unsigned int u = 3;
  u -= 5;
  printf("%u %u %d\n", u, u / 2, u > 100);
  size_t n = 0;
  printf("%d\n", n - 1 > 5);
  int minus = -1;
  printf("%d %d\n", minus < n, minus < (int)n);
  unsigned char c = 250;
  c += 10;
  signed char s = (signed char)200;
  short h = (short)70000;
  printf("%d %d %d\n", c, s, h);
  int64_t big = (int64_t)1 << 40;
  printf("%lld %d %u\n", (long long)big, (int)big, (unsigned)(big >> 20));
  for (int i = 0; i < 4; i++) printf("%u ", xorshift());
  printf("\n%llu\n", fnv("cudnn"));
  int seed = 42;
  for (int i = 0; i < 3; ++i) {
    seed = lcg(seed);
    printf("%d ", seed);
  }
  printf("\n");
  int x = 5, y;
  y = x++ + 2;
  printf("%d %d\n", x, y);
  y = ++x * 2;
  printf("%d %d\n", x, y);
  y = (x = 3, x + 1);
  printf("%d %d\n", x, y);
  int k = 10;
  while (k-- > 7) printf("k%d ", k);
  printf("%d\n", k);
  unsigned int down = 3;
  while (down--) printf("%u ", down);
  printf("%u\n", down);
  printf("%x %o %5d|%-5d|%05d %+d %c%c\n", 255, 8, 42, 42, 42, 42, 'o', 'k');
  printf("%d %d\n", !x, !!x);
  int flags = 0;
  flags |= 1 << 3;
  flags ^= 0x1f;
  printf("%d %d %d\n", flags, flags & 4, ~flags);
  srand(7);
  int first = rand() % 100;
  printf("%d %d %d\n", first, rand() % 100, RAND_MAX);
  long sum = 0;
  for (int i = 0, j = 10; i < j; i++, j--) sum += (long)i * j;
  printf("%ld\n", sum);
  return 0;
}
