/* Files: text and binary. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t magic;
  int32_t rows, columns;
} Header;

static uint32_t swapped(uint32_t v) {
  return (v >> 24) | ((v >> 8) & 0xff00) | ((v << 8) & 0xff0000) | (v << 24);
}

int main(void) {
  FILE *f = fopen("numbers.txt", "w");
  if (!f) {
    fprintf(stderr, "cannot write\n");
    return 1;
  }
  fprintf(f, "%d %d\n", 2, 3);
  for (int i = 0; i < 6; i++) fprintf(f, "%.2f%c", i * 1.25, i % 3 == 2 ? '\n' : ' ');
  printf("%d\n", fflush(f));
  fclose(f);

  int rows, columns;
  f = fopen("numbers.txt", "r");
  if (fscanf(f, "%d %d", &rows, &columns) != 2) return 1;
  float *x = (float *)malloc(rows * columns * sizeof(float));
  float sum = 0;
  for (int i = 0; i < rows * columns; i++) {
    fscanf(f, "%f", &x[i]);
    sum += x[i];
  }
  fclose(f);
  printf("%d %d %g %g\n", rows, columns, x[5], sum);

  Header header = {0x01020304, rows, columns};
  f = fopen("data.bin", "wb");
  fwrite(&header, sizeof(Header), 1, f);
  fwrite(x, sizeof(float), rows * columns, f);
  fclose(f);

  Header again;
  float y[6];
  unsigned char first;
  f = fopen("data.bin", "rb");
  size_t n = fread(&again, sizeof(again), 1, f);
  printf("%zu %x %x %d\n", n, again.magic, swapped(again.magic), again.columns);
  n = fread(y, sizeof(float), 6, f);
  printf("%zu %g %d\n", n, y[4], (int)fread(&first, 1, 1, f));
  fseek(f, 0, SEEK_END);
  printf("%ld\n", ftell(f));
  fseek(f, 0, SEEK_SET);
  fread(&first, 1, 1, f);
  printf("%d\n", first);
  fclose(f);

  char line[64];
  int count = 0;
  f = fopen("numbers.txt", "r");
  while (fgets(line, sizeof(line), f) != NULL) {
    count += (int)strlen(line);
  }
  printf("%d\n", count);
  fclose(f);
  if ((f = fopen("missing", "r")) == NULL) printf("missing\n");
  return 0;
}
