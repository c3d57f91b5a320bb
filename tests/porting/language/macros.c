/* Macros are text: what stands beside them binds to their operators. */
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 10
#define PAD 2
#define OUT (WIDTH + 2 * PAD - 3) / 3 + 1
#define LENGTH 4 * WIDTH
#define BITS 1 << 3
#define SUM(a, b) a + b
#define SQUARE(x) x *x
#define MINUS -5
#define HALF 1.0 / 2
#define NORM SQUARE(3) + OUT
#define REAL float
#define ELEMENT REAL
#define BYTES (WIDTH * sizeof(ELEMENT))
#define NEXT(x) (x) + 1
#define TINY 1e-3f
#define CHOOSE(c) c ? 10 : 20
#define JOIN3(a, b, c) a##b##c
#define SAFE(x) ((x) * 2)
#define INDEX(r, c) (r) * WIDTH + (c)
#define EACH(i, n) for (int i = 0; i < (n); i++)

typedef enum { FIRST, SECOND } Mode;
typedef unsigned char Byte;

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static int (*const operations[])(int, int) = {add, subtract};

int main(void) {
  ELEMENT values[LENGTH];
  for (int i = 0; i < LENGTH; i++) values[i] = i;
  printf("%d %d %d\n", OUT * OUT, OUT, 100 / LENGTH);
  printf("%d %d\n", LENGTH / LENGTH, BITS + 1);
  printf("%d %d\n", 2 * SUM(3, 4), 100 - SUM(1, 2));
  printf("%d %d %f\n", 36 / SQUARE(3), SQUARE(2 + 1), (float)HALF);
  printf("%d %d %d\n", 3 - MINUS, -MINUS, NORM * 2);
  printf("%d %d %g\n", 3 * NEXT(SUM(1, 1)), (int)BYTES, 2 * TINY);
  printf("%d %d %f\n", CHOOSE(0) + 1, 1 + CHOOSE(1), values[LENGTH - 1]);
  printf("%g %d\n", values[INDEX(1, 2)], SAFE(1 + 1) + 2 * SAFE(3));
  printf("OUT SQUARE(2) \"LENGTH\" 'x' \\ %c%c // LENGTH\n", '"', '\'');
  Mode mode = (Mode)(atoi("1"));
  Byte low = (Byte)(atoi("258"));
  printf("%d %d\n", mode == SECOND, low);
  EACH(i, add(1, 2)) {
    printf("%d ) ,\n", i);
  }
  int x1y = 6;
  printf("%d %d %d\n", JOIN3(x, 1, y), operations[1](5, 3), operations[0](5, 3));
  return 0;
}
