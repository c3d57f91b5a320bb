/* Arrays, pointers, strings, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(float *p, int n, float value) {
  for (int i = 0; i < n; i++) *p++ = value + i;
}

static void swap(int *a, int *b) {
  int t = *a;
  *a = *b;
  *b = t;
}

static void limits(const int *x, int n, int *low, int *high) {
  *low = *high = x[0];
  for (int i = 1; i < n; i++) {
    if (x[i] < *low) *low = x[i];
    if (x[i] > *high) *high = x[i];
  }
}

static int make(float **out, size_t n) {
  *out = (float *)malloc(n * sizeof(float));
  if (*out == NULL) return -1;
  memset(*out, 0, n * sizeof(float));
  return 0;
}

static int product(const int dims[], int n) {
  int p = 1;
  for (int i = 0; i < n; i++) p *= dims[i];
  return p;
}

static size_t count(const char *s, char c) {
  size_t n = 0;
  for (; *s; s++) n += *s == c;
  return n;
}

int main(int argc, char **argv) {
  float *x = (float *)malloc(12 * sizeof(float));
  fill(x, 12, 0.5f);
  fill(x + 4, 2, 100);
  for (int i = 0; i < 12; i++) printf("%g ", x[i]);
  printf("\n");
  float *row = &x[8];
  printf("%g %g %g %ld\n", *row, row[1], *(row - 2), (long)(row - x));
  row += 2;
  printf("%g %d %d %ld\n", row[0], row > x, row == x + 10, (long)((x + 3) - (row - 1)));
  printf("%d %d %d %d\n", row >= x + 10, row <= x + 9, x + 1 < row, row != &x[9]);
  int a = 1, b = 2;
  swap(&a, &b);
  printf("%d %d\n", a, b);
  int values[5] = {4, -2, 9}, low, high;
  limits(values, 5, &low, &high);
  printf("%d %d %zu\n", low, high, sizeof(values) / sizeof(values[0]));
  swap(&values[0], &values[2]);
  printf("%d %d %d\n", values[0], values[1], values[2]);
  float *made;
  if (make(&made, 3) != 0) return 1;
  made[1] = 2.5f;
  printf("%g %g\n", made[0], made[1]);
  memcpy(made, x + 1, 2 * sizeof(float));
  printf("%g %g %g\n", made[0], made[1], made[2]);
  int dims[] = {2, 3, 4};
  printf("%d\n", product(dims, 3));
  char name[32] = "conv";
  strcat(name, "1");
  sprintf(name + 5, "_%dx%d", 3, 3);
  printf("%s %zu %d %c\n", name, strlen(name), strcmp(name, "conv2"), name[2]);
  const char *words[] = {"alpha", "beta"};
  for (int i = 0; i < 2; i++) printf("[%-6s]", words[i]);
  printf("\n%zu\n", count("banana", 'a'));
  int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  grid[1][0] += 10;
  int sum = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) sum += grid[i][j];
  printf("%d %d\n", sum, *(&grid[1][0] + 2));
  float square[2][2];
  float *flat = (float *)square;
  for (int i = 0; i < 4; i++) flat[i] = i;
  flat[1] = 9;
  printf("%g %g %g %g\n", square[0][0], square[0][1], square[1][0], *(flat + 3));
  int *cells = (int *)grid;
  cells[1] = -1;
  printf("%d %d\n", grid[0][1], grid[1][1]);
  unsigned char bytes[4];
  unsigned int word = 0x01020304;
  memcpy(bytes, &word, 4);
  printf("%d %d\n", bytes[0], bytes[3]);
  int *numbers = calloc(3, sizeof(int));
  numbers[2] = 7;
  int *p = numbers;
  int last = 0;
  while (p < numbers + 3) last = *p++;
  printf("%d %s\n", last, argc > 5 ? argv[1] : "none");
  const char **names = (const char **)argv;
  printf("%d %d\n", names[0][0] == argv[0][0], names == (const char **)argv);
  float *none = NULL;
  printf("%g %g\n", *(argc > 5 ? NULL : x), (argc > 5 ? x : &x[1])[2]);
  const int *cast = (const int *)none, *zeros = (const int *)(x + 9);
  printf("%d %d %d %d\n", none == NULL, !x, cast == NULL, zeros[1] == 0x41280000);
  free(x);
  free(made);
  free(numbers);
  return 0;
}
