// Values are copied wherever C++ copies them, whatever expression names them.
#include <cstdio>
#include <vector>

struct Point {
  int a;
  float b;
};

struct Pair {
  Point in, out;
};

static Point same(const Point &x) { return x; }
static Point choose(bool c, const Point &x, const Point &y) { return c ? x : y; }
static Point &first(std::vector<Point> &v) { return v[0]; }
static std::vector<int> numbers(const std::vector<int> &v) { return v; }

static Point by_reference(std::vector<Point> &v) {
  Point &r = v[0];
  r.b = 1;
  return r;
}

static Point in_a_loop(std::vector<Point> &v) {
  for (Point &one : v)
    if (one.a > 1) return one;
  return v[0];
}

int main() {
  Point x = {1, 2}, y = same(x);
  y.a = 9;
  Point z = choose(true, x, y), t = x.a > 0 ? x : y;
  z.a = t.a = 100;
  std::printf("%d %d\n", x.a, y.a);
  Point row[2] = {x, y};
  row[0].a = 5;
  Pair pair = {x, y}, other = pair;
  pair.in.a = 6;
  std::vector<Point> v = {x, y};
  v[1].a = 7;
  std::printf("%d %d %d %d %d\n", x.a, y.a, row[0].a, pair.in.a, other.in.a);
  Point c = by_reference(v), d = in_a_loop(v), e = first(v);
  c.a = d.a = e.a = 50;
  std::printf("%d %d %g\n", v[0].a, v[1].a, v[0].b);
  first(v).a = 8;
  Point p, q;
  p = q = x;
  p.a = 53;
  std::printf("%d %d\n", q.a, x.a);
  std::vector<int> n = {1, 2}, m = numbers(n);
  m[0] = 54;
  std::printf("%d %d\n", n[0], m[0]);
  m = n;
  m[1] = 55;
  std::printf("%d %d\n", n[1], m[1]);
  std::vector<int> &of_m = m;
  m = n[0] > 0 ? n : m;
  m[0] = 56;
  m = numbers(n);
  std::vector<std::vector<int>> rows = {n, m};
  rows[1] = rows[0];
  rows[1][1] = 57;
  std::printf("%d %d %d %d %d\n", n[1], m[1], of_m[0], rows[0][1], rows[1][1]);
  int total = 0;
  for (int each : n) total += each *= 3;
  for (int each : {4, 5}) total += each;
  for (size_t i = 0; i < n.size(); i++)
    if (n.size() < 5) n.push_back(n[i]);
  for (const Point &each : v) total += each.a;
  std::printf("%d %d %d %d\n", total, (int)n.size(), n[1], n[4]);
  Point *into = &x, *member = &pair.in, *element = &row[1];
  Point &alias = y;
  x = pair.out;
  pair = other;
  row[1] = row[0];
  y = v[0];
  into->a += 100;
  member->a += 200;
  element->a += 300;
  alias.a += 400;
  std::printf("%d %d %d %d %d\n", x.a, pair.in.a, row[1].a, y.a, other.in.a);
  return 0;
}
