// Copies, references, defaults and containers of objects.
#include <cstdio>
#include <vector>
#include <string>
#include <iostream>
#include <cmath>
#include <algorithm>
struct V {
  int a = 1, b = 2;
  float f = 0.5f;
  int sum() const { return a + b; }
  void grow(int by = 3) { a += by; }
};
struct D {
  int a, b = a * 2, c;
  explicit D(int n) : c(b + 1), a(n) {}
};
struct P { int x, y; };
class Acc {
 public:
  explicit Acc(int n) : n_(n), data_(n, 1.5f), p_{1, 2} {}
  ~Acc() { std::printf("~%d\n", n_); }
  float total() const { float t = 0; for (auto x : data_) t += x; return t; }
  float &at(int i);
  std::vector<float> &data() { return data_; }
  const P &p() const { return p_; }
  int n_ = 9;
 private:
  std::vector<float> data_;
  P p_;
};
static void bump(int &x, P &p, P q) { x++; p.x += 10; q.x += 1000; }
static P make(int x) { P p; p.x = x; p.y = -x; return p; }
static int late(std::vector<int> v) { v.push_back(5); return (int)v.size(); }
enum class K : int { One = 1, Two, Five = 5 };
int main() {
  V v; v.grow(); v.grow(4); std::printf("%d %d %g %d\n", v.a, v.b, v.f, v.sum());
  V w = v; w.a = 100; std::printf("%d %d\n", v.a, w.a);
  D d(4);
  std::printf("%d %d %d\n", d.a, d.b, d.c);
  Acc acc(3); acc.data()[1] = 4; std::printf("%g %d\n", acc.total(), acc.p().y);
  { Acc inner(7); std::printf("%g\n", inner.total()); }
  int x = 1; P p = {1, 2}; bump(x, p, p); std::printf("%d %d\n", x, p.x);
  P r = make(4); P s = r; s.y = 7; std::printf("%d %d %d\n", r.x, r.y, s.y);
  std::vector<int> nums{3, 1, 2}; std::printf("%d %zu\n", late(nums), nums.size());
  std::vector<P> ps;
  ps.push_back(r);
  ps.push_back({5, 6});
  ps[0].x = 77;
  std::printf("%d %d %d\n", r.x, ps[0].x, ps.back().y);
  for (auto &q : ps) q.x += 1; for (const auto &q : ps) std::printf("%d ", q.x); std::printf("\n");
  for (auto q : ps) q.x = 0; std::printf("%d\n", ps[1].x);
  std::vector<float> row2(2);
  std::vector<std::vector<float>> g(2, row2);
  g[0][1] = 3;
  auto copy = g[0];
  copy[1] = 8;
  std::printf("%g %g\n", g[0][1], copy[1]);
  std::cout << static_cast<int>(K::Two) << " " << (K::Five == K::Two) << " " << 1.0 / 3 << " "
            << 2.5f << " " << 'c' << " " << true << "\n";
  std::string t = "a"; t += "bc"; std::cout << t << std::endl;
  const int dims[3] = {2, 3, 4};
  int prod = 1;
  for (int d : dims) prod *= d;
  std::printf("%d\n", prod);
  std::vector<float> big(5);
  for (size_t i = 0; i < big.size(); i++) big[i] = i * 0.5f;
  big.resize(7, 2.0f);
  std::printf("%zu %g %g\n", big.size(), big[4], big[6]);
  P *pp = new P[2]; pp[1] = r; pp[1].y++; std::printf("%d %d\n", pp[1].y, r.y); delete[] pp;
  auto mx = *std::max_element(big.begin(), big.end());
  std::printf("%g %g\n", mx, std::max(1.0f, 2.0f) + std::sqrt(4.0f) + std::pow(2.0, 3));
  int arr[4] = {1, 2, 3, 4};
  int *q = arr + 1;
  *q = 20;
  q[1] = 30;
  std::printf("%d %d\n", arr[1], arr[2]);
  std::printf("%d\n", x == 2 ? (x > 1 && p.x > 3 ? 1 : 2) : 3);
  return 0;
}
