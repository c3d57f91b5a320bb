/* C's library on text and streams, memory through other pointers, and rarer forms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POINT \
  (Point) { 3, 4 }

typedef struct {
  int x, y;
} Point;
typedef struct {
  Point points[2];
  float grid[2][2];
  const char *names[2];
  int count;
} Whole;

extern int errors;
int errors = 2;

static void take(Whole *to, const Whole *from) { *to = *from; }
static int sign(int n) {
  if (n < 0)
    return -1;
  else if (n == 0)
    return 0;
  else
    return 1;
}
static void nothing(void) {}
static Point made(int x) {
  if (x > 9) return (Point){x, 0};
  return POINT;
}
static Point *grown(int n) {
  Point *p = (Point *)malloc(n * sizeof(Point));
  for (int i = 0; i < n; i++) p[i] = made(9 + i);
  return p;
}
static int last(const char *text) {
  const char *found = strchr(text, 'n');
  return found == NULL ? -1 : (int)(found - text);
}

int main(void) {
  char text[24], word[5], *found, *none = NULL;
  strncpy(text, "a long text that is cut", 11);
  text[11] = 0;
  found = strstr(text, "text");
  printf("%s|%s|%s|%d %d\n", text, found, strstr(text, "none") ? "there" : "not there", last(text), last("abc"));
  strncpy(text, "ab", 6);
  printf("%s %d %s %p\n", text, text[5], none, (void *)none);
  fputs("put\n", stdout);
  fflush(stdout);
  int first = 0, second = 0;
  int read = sscanf("7 8 9% longer", "%d %*d %d%% %4s", &first, &second, word);
  printf("%d %d %d %s\n", read, first, second, word);
  printf("%d %d %d %s\n", sign(-3), sign(0), sign(8), __func__);
  Whole one = {{{1, 2}, {3, 4}}, {{0.5f, 1}, {2, 3}}, {"a", "b"}, 5}, other;
  take(&other, &one);
  other.points[1].x = other.grid[1][0] = 70;
  other.names[0] = "c";
  Whole third = other;
  third.points[0].y = 9;
  printf("%d %g %s %d %g %s\n", one.points[1].x, one.grid[1][0], one.names[0], other.points[1].x, other.grid[1][0], other.names[0]);
  printf("%d %d %d %g %s\n", other.points[0].y, third.points[0].y, third.count, other.grid[1][1], other.names[1]);
  const char *table[2][2] = {{"nw", "ne"}, {"sw", "se"}};
  table[0][1] = "north";
  printf("%s %s\n", table[0][1], table[1][0]);
  int bits[2] = {0x3f800000, 0x40490fdb};
  float *reals = (float *)bits;
  printf("%g %.6f %u\n", reals[0], reals[1], 0xffffffff / 2);
  first > 0 ? puts("positive") : puts("negative");
  first > 9 ? puts("large") : nothing();
  Point *points = grown(3), *middle = &points[1];
  printf("%d %d %d %d\n", points[0].x, points[2].x, middle->x, (int)(middle - points));
  printf("%d %d %ld %g\n", abs(-4), abs(first - second), labs(-5L), fabs(-2.5));
  printf("%d %d %d\n", errors, (int[]){5, 6, 7}[1], 0.0 / errors == 0);
  double zero = errors - 2, nan = zero / zero;
  printf("%d %g\n", nan != nan, 1 / zero);
  printf("%d\n", time(NULL) > 1000000000 && clock() >= 0);
  memset(&bits, 0, sizeof(bits));
  Whole *heap = (Whole *)malloc(sizeof(Whole));
  heap->count = 6 + bits[1];
  printf("%d %g\n", heap->count, reals[1]);
  free(heap);
  free(points);
  exit(errors + 1);
}
