/* Pointers to structs, empty bodies, labels, conversions of text and truth. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int x, y;
} Point;

typedef struct {
  Point low, high;
  const char *name;
  int counts[2][2];
} Box;

static Point origin = {1, 2};
static int calls;

static Point global_point(void) { return origin; }
static void reset(Point *p) {
  Point zero = {0};
  *p = zero;
}
static void mirrored(const Point *from, Point *to) {
  *to = *from;
  to->x = -from->x;
}
static int area(Box b) {
  b.high.x += 1;
  return (b.high.x - b.low.x) * (b.high.y - b.low.y);
}
static bool known(const char *name) { return name; }
static int step(void) { return ++calls; }
static int length(const char *s) {
  const char *p = s;
  while (*p) ++p;
  return (int)(p - s);
}
static int parse(int argc) {
  int result = 0;
  if (argc > 5) goto done;
  result = 1;
unused:
  result += 2;
  for (int i = 0; i < 3; i++) {
    if (i == argc) goto done;
    result += 10;
  }
  result += 100;
done:
  return result;
}

int main(void) {
  Point p = global_point();
  p.x = 50;
  printf("%d %d\n", origin.x, p.x);
  Point q;
  mirrored(&p, &q);
  printf("%d %d %d\n", q.x, q.y, p.x);
  reset(&p);
  printf("%d %d\n", p.x, p.y);
  Box box = {{1, 2}, {.y = 9, .x = 4}, "box", {{1, 2}, {3}}};
  Box other = box;
  other.counts[1][0] = 30;
  other.low = q;
  other.low.y++;
  printf("%d %d %d %d %s %d\n", area(box), box.high.x, box.counts[1][0], q.y, other.name, other.low.y);
  Point *inside = &box.high;
  inside->x = 77;
  printf("%d\n", box.high.x);
  bool flag = inside;
  bool many = 42;
  printf("%d %d %d %d\n", flag, many, known("a"), known(NULL));
  int n;
  for (n = 0; n < 10 && step() < 6; n++)
    ;
  printf("%d %d\n", n, calls);
  for (n = 100; n > 3; n /= 3)
    ;
  printf("%d\n", n);
  printf("%d %d %d\n", parse(1), parse(9), parse(4));
  printf("%ld %d %g %ld\n", strtol("42abc", NULL, 10), atoi("-17"), atof("2.5e1"), strtol("ff", NULL, 16));
  int values[5] = {1, 2, 3, 4, 5}, *middle = 2 + values;
  printf("%d %d %d\n", *middle, middle[-1], +n);
  middle[1] = middle[0]++ + 10;
  printf("%d %d\n", values[2], values[3]);
  const char *words[] = {"alpha", "be", "c"};
  int total = 0;
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) total += length(words[i]) * (int)(i + 1);
  printf("%d %c %s\n", total, words[0][1], words[2]);
  char copy[16] = "text";
  char *end = copy + strlen(copy);
  *end++ = '!';
  *end = '\0';
  printf("%s %d %d\n", copy, strcmp(copy, "text!"), copy[2] == 'x');
  int condition = 7, choice = 1;
  if (n++ > 0 && condition == 7) choice += condition;
  switch (choice % 5) {
    case 3:
      printf("%d %d\n", condition, choice);
  }
  unsigned bits = 0;
  for (int i = 0; i < 8; i += 3) bits |= 1u << i;
  printf("%u %d\n", bits, (bits & 8) != 0);
  int grid[3][4], (*rows)[4] = grid;
  for (int i = 0; i < 12; i++) grid[i / 4][i % 4] = i;
  printf("%d %d %d\n", rows[2][1], grid[1][2], (int)(sizeof(grid) / sizeof(grid[0])));
  double ratio = 7, percent = ratio / 2 * 100 / 3;
  printf("%.3f %d %d\n", percent, (int)ratio % 4, ratio > 6.5f);
  long wide = 3000000000L;
  int cut = (int)wide;
  float rounded = 16777217;
  printf("%d %.1f %d\n", cut, rounded, (char)(200));
  return 0;
}
