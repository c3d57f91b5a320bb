/* Structs, enums, typedefs: values that are copied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { RELU, TANH = 5, SIGMOID } Activation;

typedef struct {
  int n, c, h, w;
} Shape;

typedef struct Layer {
  const char *name;
  Shape in, out;
  float *weights;
  float bias[4];
  Activation activation;
} Layer;

struct Point {
  double x, y;
};

typedef struct {
  char tag;
  short cells[2][3];
  int size;
  double real;
  const char *name;
} Record;

typedef struct step {
  int factor;
  struct step *before;
  int (*run)(const struct step *, int);
} step;

static int scaled(const step *s, int x) { return s->factor * x; }
static int shifted(const step *s, int x) { return s->before->run(s->before, x) + s->factor; }

static Shape output(Shape s, int kernel, int pad, int stride) {
  s.h = (s.h + 2 * pad - kernel) / stride + 1;
  s.w = (s.w + 2 * pad - kernel) / stride + 1;
  return s;
}

static int size(const Shape *s) { return s->n * s->c * s->h * s->w; }

static void setup(Layer *layer, const char *name, Shape in) {
  layer->name = name;
  layer->in = in;
  layer->out = output(in, 5, 0, 2);
  layer->weights = (float *)calloc(size(&layer->out), sizeof(float));
  for (int i = 0; i < 4; i++) layer->bias[i] = i * 0.5f;
  layer->activation = SIGMOID;
}

int main(void) {
  Shape s = {1, 3, 32, 28};
  Shape t = s;
  t.c = 8;
  printf("%d %d\n", s.c, t.c);
  Layer layers[2];
  setup(&layers[0], "first", s);
  setup(&layers[1], "second", layers[0].out);
  for (int i = 0; i < 2; i++) {
    Layer *l = &layers[i];
    printf("%s %d %d %d %d %g\n", l->name, l->out.h, l->out.w, size(&l->out), l->activation,
           l->bias[3]);
    l->weights[1] = 3;
  }
  Layer copy = layers[1];
  copy.bias[0] = 9;
  copy.in.n = 77;
  printf("%g %g %d %d %g\n", layers[1].bias[0], copy.bias[0], layers[1].in.n, copy.in.n,
         copy.weights[1]);
  struct Point p = {1.5, 2}, q;
  q = p;
  q.x += 1;
  printf("%g %g %zu\n", p.x, q.x, sizeof(struct Point));
  struct Point *list = (struct Point *)malloc(3 * sizeof(struct Point));
  for (int i = 0; i < 3; i++) {
    list[i].x = i;
    list[i].y = 2 * i;
  }
  struct Point *end = list + 3;
  double sum = 0;
  for (struct Point *r = list; r != end; r++) sum += r->x * r->y;
  printf("%g %zu\n", sum, sizeof(Shape));
  Activation a = TANH;
  switch (a) {
    case RELU: printf("relu\n"); break;
    case TANH: printf("tanh\n"); break;
    default: printf("other\n");
  }
  Shape table[2] = {{1, 2, 3, 4}, {.n = 5, .w = 8}};
  printf("%d %d %d\n", table[0].w, table[1].n, table[1].c);
  Record one = {1, {{1, 2, 3}, {4, 5, 6}}, 7, 0.5, "one"}, two = {0};
  int *inside = &two.size;
  memcpy(&two, &one, sizeof(Record));
  *inside += 10;
  printf("%d %d %d %g %zu\n", two.tag, two.cells[1][2], two.size, two.real, sizeof(Record));
  memset(&two, 0, sizeof(two));
  printf("%d %d %d %d\n", two.tag, two.cells[1][2], *inside, two.name == NULL);
  step steps[2] = {{3, NULL, scaled}, {4, NULL, shifted}};
  steps[1].before = &steps[0];
  printf("%d\n", steps[1].run(&steps[1], 5));
  return 0;
}
