/* Narrow and unsigned integers, aggregates, loops and conversions, mixed. */
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <stdlib.h>
#define SQ(x) ((x)*(x))
#define MASK 0xF0u
enum { A = 3, B, C = -2, D };
typedef struct { int x, y; } P2;
typedef struct { int id; float w[3]; P2 p; } Item;
typedef struct { uint8_t r, g; unsigned short s; char name[8]; } Pix;
static int table[] = {5, 3, 9};
static unsigned counter(void) { static unsigned n = 4294967290u; n += 3; return n; }
static int64_t big(int a, int b) { return (int64_t)a * b; }
static int neg(int x) { return -x; }
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static float avg(const float *v, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += v[i];
  return n ? s / n : 0.0f;
}
int main(void) {
  uint8_t u8 = 250; u8 += 10; printf("%d\n", u8);
  u8 = 255; u8 = u8 << 1; printf("%d\n", u8);
  int8_t i8 = 127; i8++; printf("%d\n", i8);
  unsigned short us = 65535; us *= 2; printf("%d\n", us);
  unsigned x = 5, y = 7; printf("%u %d\n", x - y, (int)(x - y));
  printf("%d %d\n", -7 / 2, -7 % 3);
  printf("%u %u\n", (unsigned)-7 / 2, 7u % 3);
  int n = 10; const int m = n - 12; printf("%d %d %d\n", m / 2, m % 2, m >> 1);
  const int h = -9; printf("%d %d\n", h / 4, h % 4);
  printf("%d %d %d %d\n", A, B, C, D);
  int k = D; printf("%d\n", k / 2 + D % 2);
  size_t len = strlen("hello"); printf("%zu %zu %d\n", len - 2, len * 3 / 2, (int)len - 9);
  printf("%d\n", (int)(len - 9));
  for (size_t i = len; i-- > 0;) printf("%zu", i); printf("\n");
  printf("%d %d\n", (x > 3) + (y > 9), !x + !!y);
  long long f = 1; for (int i = 1; i <= 20; i++) f *= i; printf("%lld\n", f);
  unsigned hash = 2166136261u;
  for (const char *s = "abc"; *s; s++) hash = (hash ^ (unsigned char)*s) * 16777619u;
  printf("%u\n", hash);
  uint32_t r = 12345; for (int i = 0; i < 3; i++) r = r * 1664525u + 1013904223u; printf("%u\n", r);
  uint64_t q = 88172645463325252ull;
  q ^= q << 13;
  q ^= q >> 7;
  q ^= q << 17;
  printf("%llu\n", (unsigned long long)q);
  unsigned k1 = counter(), k2 = counter() - 1; printf("%u %u\n", k1, k2);
  printf("%lld\n", (long long)big(100000, 100000));
  int a = 1, b = 2; swap(&a, &b); printf("%d %d\n", a, b);
  Item it = {7, {1, 2.5f}, {3, 4}}; Item cp = it; cp.w[1] = 9; cp.p.x = 50;
  printf("%d %g %g %d %d %d\n", it.id, it.w[1], cp.w[1], it.p.x, cp.p.x, cp.p.y);
  Pix px = {1, 2, 3, "abc"};
  px.name[1] = 'X';
  px.r = 300;
  px.s -= 4;
  printf("%d %d %s %zu\n", px.r, px.s, px.name, sizeof(Pix));
  Item items[2] = {{1}, {2, {4}}};
  for (int i = 0; i < 2; i++) printf("%d:%g ", items[i].id, items[i].w[0]);
  printf("\n");
  float fl = 0.1f; double db = fl; printf("%.17g %.9g %d\n", db, fl * 3, fl == 0.1);
  printf("%g %g %d\n", 7 / 2 * 1.0, 7 / 2.0, (int)3.99);
  printf("%d\n", (int)-3.99);
  float fa[4] = {1, 2, 3, 4}; printf("%g %g\n", avg(fa, 4), avg(fa + 1, 2));
  char buf[32]; snprintf(buf, sizeof(buf), "%03d-%s", 7, "z"); printf("%s %zu\n", buf, strlen(buf));
  int *p = table, *e = table + 3, sum = 0;
  while (p < e) sum += *p++;
  printf("%d %ld\n", sum, (long)(e - table));
  int z = 3; z += z++ ? 2 : 1; 
  a = 5; b = a + 1; int w = b * 2; printf("%d %d %d\n", w, a, b);
  switch (w) { case 12: printf("12 "); case 13: printf("13\n"); break; default: printf("other\n"); }
  int i = 0; do { if (i == 2) continue; printf("%d ", i); } while (++i < 5); printf("\n");
  int c1 = 0;
  for (int r1 = 0; r1 < 3; r1++)
    for (int r2 = r1; r2 < 3; r2++) {
      if (r2 == 1) continue;
      c1 += r1 * 10 + r2;
    }
  printf("%d\n", c1);
  printf("%d %d\n", SQ(1 + 2), SQ(a - b));
  printf("%x %x\n", 0xABu & MASK, ~MASK);
  printf("%d %d\n", n & -4, m & 6);
  int j; for (j = 0; j < 10; j++) if (j * j > 30) break; printf("%d\n", j);
  for (j = 5; j >= 0; j -= 2) printf("%d", j); printf(" %d\n", j);
  unsigned char bytes[4];
  uint32_t word = 0x01020304;
  memcpy(bytes, &word, 4);
  printf("%d %d\n", bytes[0], bytes[3]);
  int mat[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int tr = 0;
  for (int ii = 0; ii < 2; ii++) {
    int *row = mat[ii];
    tr += row[2];
    row[0] = 0;
  }
  printf("%d %d\n", tr, mat[1][0]);
  double inf = 1.0 / (a - 5); printf("%f\n", inf);
  printf("%d %d\n", neg(-5), abs(-4));
  char ch = 'a'; ch += 2; printf("%c %d\n", ch, ch - 'a');
  int v = 0x7fffffff; unsigned uv = v; uv += 1; printf("%u %d\n", uv, (int)uv);
  short sh = -1; unsigned su = sh; printf("%u %d\n", su, sh == -1);
  long lg = 1L << 40; printf("%ld %d\n", lg, (int)(lg >> 38));
  int t1 = a > b ? a : b, t2 = a ? -1 : 1; printf("%d %d\n", t1, t2);
  float ff = n; ff /= 4; n /= 4; printf("%g %d\n", ff, n);
  ff = 5 / 2 + 0.5f; printf("%g\n", ff);
  n = 7.9f; printf("%d\n", n); n *= 1.5; printf("%d\n", n);
  int top = 1 << 31;
  printf("%d\n", top);
  unsigned ux = 3; int iy = -5; printf("%d %u\n", ux > iy, ux + iy);
  printf("%d\n", (uint8_t)(200 + 100)); 
  size_t total = 2 * 3 * sizeof(float);
  printf("%zu %d\n", total, (int)(total / sizeof(float)) - 10);
  for (unsigned g = 3; g > 0; g--) printf("%u", g); printf("\n");
  return 0;
}
