/* float and double: rounding, conversions, functions of math.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EPSILON 1e-5f
#define N 8

static float mean(const float *x, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum / n;
}

static double total(const float *x, int n) {
  double sum = 0;
  int i;
  for (i = 0; i < n; i++) sum += x[i] * 0.1;
  return sum;
}

static void softmax(const float *x, float *y, int n) {
  float largest = x[0], sum = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > largest) largest = x[i];
  for (int i = 0; i < n; i++) {
    y[i] = expf(x[i] - largest);
    sum += y[i];
  }
  for (int i = 0; i < n; i++) y[i] /= sum;
}

int main(void) {
  float x[N], y[N];
  for (int i = 0; i < N; ++i) x[i] = (float)i / 3 - 1.1f;
  printf("%.9g %.17g\n", mean(x, N), total(x, N));
  softmax(x, y, N);
  for (int i = 0; i < N; i++) printf("%.9g ", y[i]);
  printf("\n");
  float a = 0.1f, b = 0.2f;
  printf("%d %d %.17g\n", a + b == 0.3f, a == 0.1, a + b);
  float third = 1 / 3.0;
  double d = third;
  printf("%.17g %.9g\n", d, third * 3);
  int n = 7;
  printf("%d %.9g %.9g\n", n / 2, n / 2.0f, (float)n / 2);
  float r = sqrtf(2) * powf(2.0f, 0.5f) + EPSILON;
  printf("%.9g %.17g\n", r, sqrt(2.0) + fabs(-1.5));
  printf("%d %d %d\n", (int)-2.7f, (int)2.7, (int)(x[3] * 10));
  float big = 16777216.0f;
  big += 1;
  printf("%.1f\n", big);
  double zero = 0;
  printf("%f %f\n", 1 / zero, -1.0 / zero);
  printf("%e %g %8.3f|%-8.2f|\n", 12345.678, 0.0001, 3.14159, 2.5);
  float worst = 0;
  for (int i = 0; i < N; i++) worst = fmaxf(worst, fabsf(x[i]));
  printf("%.9g\n", worst);
  printf("%.9g\n", (float)rand() / RAND_MAX);
  float s = 0;
  for (int i = 0; i < 1000; i++) s += 0.1f;
  printf("%.9g %g\n", s, floor(-2.5) + round(2.5));
  const float table[2][3] = {{1, 2, 3}, {4.5, 5, 6}};
  float t = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) t += table[i][j] * (i + 1);
  printf("%g\n", t > 30 ? t : -t);
  double mixed = 0.1f * 3.0 + (double)0.7f;
  printf("%.17g %d\n", mixed, 0.1f == 0.1);
  return 0;
}
