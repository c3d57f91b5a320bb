/* Side effects within expressions, each exactly once. */
#include <stdio.h>
#include <string.h>

static int calls = 0;
static int next(void) { return calls++; }
static int total = 0;
static int add(int x) {
  total += x;
  return total;
}


typedef struct {
  int n;
  int items[4];
  unsigned char tag;
} Bag;

static void push(Bag *bag, int item) { bag->items[bag->n++] = item; }
static int pop(Bag *bag) { return bag->items[--bag->n]; }

static int product(const int *dims, int n) {
  int p = 1;
  while (n-- > 0) p *= *dims++;
  return p;
}

static void copy(char *to, const char *from) {
  while ((*to = *from) != 0) {
    to++;
    from++;
  }
}

static int find(const int *x, int n, int wanted) {
  int i = 0;
  while (i < n && x[i] != wanted) i++;
  return i < n ? i : -1;
}

int main(void) {
  int a[6] = {5, 4, 3, 2, 1, 0};
  int i = 0;
  int x = a[i++];
  x += a[i++];
  printf("%d %d\n", x, i);
  x = a[++i];
  printf("%d %d\n", x, i);
  a[i++] = 77;
  a[i]++;
  --a[i];
  a[i] <<= 2;
  printf("%d %d %d\n", a[3], a[4], i);
  int *p = a;
  *p++ = 8;
  *p += 2;
  x = *++p + *p;
  printf("%d %d %d %ld\n", a[0], a[1], x, (long)(p - a));
  Bag bag = {0};
  push(&bag, 3);
  push(&bag, 9);
  bag.tag = 255;
  bag.tag++;
  x = pop(&bag);
  printf("%d %d %d %d\n", x, bag.n, bag.items[1], bag.tag);
  printf("%d\n", product(a, 3));
  char text[8];
  copy(text, "effect");
  printf("%s %d\n", text, (int)strlen(text));
  printf("%d %d\n", find(a, 6, 1), find(a, 6, 1234));
  int y = next() || next();
  printf("%d %d\n", y, calls);
  y = next() && next() && 0;
  printf("%d %d\n", y, calls);
  y = calls > 2 ? add(2) : add(3);
  y = (add(1), add(1)) + 1;
  printf("%d %d\n", y, total);
  int b, c;
  b = c = 3;
  b += c -= 1;
  printf("%d %d\n", b, c);
  unsigned u = 0;
  printf("%u ", u--);
  printf("%u\n", u);
  if ((b = add(10)) > 5 && (c = b * 2) > 0) printf("%d %d\n", b, c);
  do {
    if (b % 2) break;
    b--;
  } while (b > 0);
  printf("%d\n", b);
  for (int k = 0, m = 3; k < m; k++) printf("%d:%d ", k, m--);
  printf("\n");
  float f = 1.5f;
  f *= 2;
  f++;
  int g = f * 10;
  g /= 4.0f;
  printf("%g %d\n", f, g);
  double table[2][2] = {{1, 2}, {3, 4}};
  double(*row)[2] = table;
  table[1][0] += row[0][1];
  printf("%g\n", table[1][0]);
  return 0;
}
