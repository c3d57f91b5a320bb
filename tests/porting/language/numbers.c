/* Numbers that headers name, types of literals, precedence of operators, ranges of results. */
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ONE(of) printf("%.15g %.7g\n", of(x), of##f(y))
#define TWO(of) printf("%.15g %.7g\n", of(-9.5 * x, 2), of##f(-9.5f * y, y))

static int minus(int n) { return -n; }
static unsigned ten(void) { return 10; }
static int tell(int n, int result) {
  printf("<%d>", n);
  return result;
}

int main(void) {
  printf("%d %d %d %d %d %d\n", EOF, EXIT_SUCCESS, EXIT_FAILURE, SEEK_CUR, INT_MIN, INT_MAX);
  printf("%d %u %zu %ld\n", RAND_MAX, UINT_MAX, (size_t)SIZE_MAX, (long)CLOCKS_PER_SEC);
  printf("%d %d %d %d %d %d\n", INT8_MAX, INT16_MAX, INT32_MAX, INT8_MIN, INT16_MIN, INT32_MIN);
  printf("%.9g %.9g %.9g %f %f\n", FLT_MAX, FLT_MIN, FLT_EPSILON, INFINITY, HUGE_VALF);
  printf("%.17g %.17g %.17g %.17g %.17g %f\n", DBL_MAX, DBL_EPSILON, M_PI, M_PI_2, M_E, HUGE_VAL);
  printf("%" PRId32 " %" PRIu64 " %" PRIx64 " %d\n", -5, (uint64_t)1 << 63, (uint64_t)255, NAN == NAN);

  int a = minus(-13), b = minus(-6), c = minus(3), d = minus(0);
  printf("%d %d %d %d\n", c < 1u, c < 0x7fffffff, c < 0x80000000, c < 2147483648);
  printf("%d %d %d %d\n", c < 4294967295, c < 0xffffffffff, c < 1ul, c < 0xffffffffffffffff);
  printf("%d %d %d %d\n", 0x1F, 017, 'a' + 0, '\n' + '\x41' + '\101' + '\\' + '\'');
  printf("%d %d %d %d\n", a | b ^ c & a, (a | b) ^ c, (a ^ b) & c, a & (b | c));
  printf("%d %d %d %d\n", (a & b) << 1, a & b << 1, (a << 1) + b, a << (1 + d));
  printf("%d %d %d %d\n", a - (b - c), a - b - c, a / (b * 2), a / b * 2);
  printf("%d %d %d %d\n", a % (b - 1), a * (b % 4), -(a + b), ~(a | b));
  printf("%d %d %d %d\n", a > b == b > c, a == (b == c), !(a && d), !a == d);
  printf("%d %d %d %d\n", (a || b) && d, a || b && d, a ? b : c ? d : a, (a ? d : c) ? b : a);
  printf("%d %d %d %d\n", (a > b) + (b > c), (a, b), -(-a), a - -b);
  printf(" %d\n", (tell(1, 0) && tell(2, 1)) || (tell(3, 1) && !tell(4, 0)));

  unsigned u = ten();
  unsigned char byte = ten() + 240;
  signed char small = ten() + 110;
  unsigned short medium = ten() * 6553;
  printf("%u %u %u %u %u\n", u - 11, u * 4000000000u, u << 30, u >> 1, ~u);
  printf("%u %u %u %u\n", c / u, c % u, c + u, -u);
  printf("%d %d %d %d %d\n", c / b, c % b, a / c, -a % b, c >> 1);
  printf("%d %d %d %d\n", byte * byte, byte - 255, byte << 20, medium * 2 - 3);
  printf("%u %d %d\n", byte * byte * 65535u, (unsigned char)(byte + 6), (short)(medium + 1));
  byte += 10, small += 10, medium *= 3;
  printf("%d %d %d %d\n", byte, small, medium, (signed char)(small * 2));
  printf("%d %d %zu\n", sizeof(int) - 5 > 0, sizeof(a) * 2 > 7, sizeof(long) * u);
  printf("%d %d %d %d %d %d\n", (int8_t)200, (int16_t)40000, (uint8_t)-1, (uint16_t)-2, (char)130, (bool)7);
  printf("%zu%zu%zu%zu%zu%zu%zu%zu\n", sizeof(char), sizeof(short), sizeof(long), sizeof(long long unsigned),
         sizeof(unsigned long int), sizeof(uint16_t), sizeof(int64_t), sizeof(size_t));
  int64_t wide = (int64_t)a << 40;
  uint64_t whole = 0xffffffffffffffffu;
  printf("%lld %llu %d %u\n", (long long)(wide * b), (unsigned long long)(whole * 3), (int)(wide >> 38),
         (unsigned)whole);
  printf("%d %d %ld %g %g\n", abs(c), abs(a), labs(-5000000000L), fabs(-0.5), ldexp(0.75, 3));

  double zero = d, x = zero + 0.6, none = zero / zero;
  float y = x;
  ONE(sqrt), ONE(exp), ONE(exp2), ONE(expm1), ONE(log), ONE(log2), ONE(log10), ONE(log1p), ONE(sin);
  ONE(cos), ONE(tan), ONE(asin), ONE(acos), ONE(atan), ONE(sinh), ONE(cosh), ONE(tanh), ONE(floor);
  ONE(ceil), ONE(round), ONE(trunc), ONE(rint), ONE(nearbyint), ONE(cbrt), ONE(erf), ONE(erfc);
  ONE(tgamma), ONE(lgamma), TWO(pow), TWO(fmod), TWO(atan2), TWO(fmax), TWO(fmin), TWO(hypot);
  TWO(copysign), TWO(remainder), TWO(fdim);
  printf("%d %d %d %d\n", !isnan(none), !isinf(1 / zero), !isfinite(zero), !isfinite(-1 / zero));
  printf("%f %f %d %d\n", -1 / zero, 1 / -zero, isnan(none * 0), (int)(2.9 + zero));
  printf("%.3s|%-6s|%6.2f|%*.*f|%+i|%#x|%X|%o|%c|%5c|%hhd|%hd|%e|%G\n", "abcdef", "ab", 3.14159, 8, 3,
         2.71828, 7, 255, 254, 8, 65, 'z', 300, 70000, 12345.678, 1e-10);

  char text[8], more[8] = "xyz";
  printf("%d %s ", snprintf(text, 4, "%d", 12345), text);
  printf("%d %s ", snprintf(text, 1, "%s", "cut"), text);
  printf("%d %s\n", snprintf(text, sizeof(text), "%d%%", 50), text);
  memmove(more + 1, more, 3);
  printf("%d %d %d %d\n", more[0] == more[1], more[3], strncmp("abcd", "abxy", 2), memcmp(more, text, 2) > 0);
  printf("%d %ld %lld %g %g\n", atoi(" 12x"), atol("-3"), atoll("5000000000"), strtod("1.5", NULL), strtof("0.1", NULL));
  printf("%d %d %s\n", (int)strcspn("abc,def", ",;"), (int)(strchr(text, '%') - text), strstr("convolution", "vol"));
  putchar('!'), putchar('\n');
  FILE *file = fopen("numbers.c.txt", "w+");
  fputs("one\ntwo", file);
  fseek(file, 1, SEEK_SET), fseek(file, 1, SEEK_CUR);
  printf("%c ", fgetc(file));
  printf("%ld ", ftell(file));
  rewind(file);
  printf("%c%d ", getc(file), feof(file) != 0);
  fread(more, 2, 3, file);
  printf("%.6s %d ", more, fgetc(file));
  printf("%d ", feof(file) != 0);
  printf("%d ", fclose(file));
  printf("%d\n", remove("numbers.c.txt"));
  return time(NULL) < 1 || clock() < 0;
}
