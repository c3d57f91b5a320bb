// Classes that own others, references, and small pieces of C++'s library.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

using namespace std;

typedef vector<float> Row;
using Index = unsigned int;

class Counter {
 public:
  explicit Counter(const string &name) : name_(name) { count_ = 0; }
  ~Counter() { cout << name_ << " ends at " << count_ << endl; }
  Counter &add(int n = 1) {
    this->count_ += n;
    return *this;
  }
  int count() const;
  void reset() { count_ = 0; }

 private:
  string name_;
  int count_;
};

int Counter::count() const { return count_; }

struct Pair {
  int first;
  float second;
};

class Owner {
  Pair inner;
  Counter *other;

 public:
  explicit Owner(Counter *counter) : inner{2, 3}, other(counter) { inner.first++; }
  ~Owner() { other->add(inner.first); }
};

static float sum(const Row &row) { return accumulate(row.begin(), row.end(), 0.0f); }
static void scale(Row &row, float by) {
  for (size_t i = 0; i < row.size(); ++i) row[i] *= by;
}
static void halve(float &x) { x /= 2; }

int main(int argc, char **argv) {
  Counter c("c");
  c.add().add(4);
  cout << c.count() << endl;
  Counter counted("other");
  Owner owner(&counted);
  Row row = {1, 2, 3.5f};
  scale(row, 2);
  cout << sum(row) << " " << row.back() << " " << row.front() << endl;
  halve(row[1]);
  float x = 5;
  halve(x);
  cout << row[1] << " " << x << endl;
  vector<Row> matrix(2, Row(3, 1.0f));
  matrix[1][2] = 7;
  Row copy = matrix[1];
  copy[0] = 9;
  for (const Row &r : matrix) cout << sum(r) << " ";
  cout << sum(copy) << endl;
  vector<Pair> pairs;
  pairs.push_back({1, 2.5f});
  Pair p = {3, 4};
  pairs.push_back(p);
  p.first = 8;
  for (auto q : pairs) {
    q.first += 100;
    cout << q.first << " " << q.second << endl;
  }
  cout << pairs[0].first + pairs[1].first << endl;
  vector<int> order(5);
  for (size_t i = 0; i < order.size(); i++) order[i] = (i * 3) % 5;
  cout << *max_element(order.begin(), order.end()) << order[1] << order[4] << endl;
  cerr << "an error" << endl;
  cout << (argc > 1 ? argv[1] : "no argument") << " " << max(3, 4) << min(2.5, 1.5) << endl;
  Index u = 3;
  cout << u - 4 << " " << static_cast<int>(u) - 4 << " " << sqrt(16.0f) << " " << pow(2, 10) << endl;
  Row fixed_row(3, 2.5f);
  const Row &view = matrix[1];
  cout << view[2] << fixed_row[2] << " " << abs(-3) << " " << fabs(-2.5f) << endl;
  for (auto &r : matrix) r[2] += 0.5f;
  cout << row[0] << " " << matrix[1][2] << endl;
  unsigned char bytes[] = {1, 2, 250};
  const unsigned char *b = bytes;
  int total = 0;
  for (auto byte : bytes) total += byte;
  cout << total << " " << int(b[2]) << endl;
  bool flag = argc == 1;
  if (flag) {
    flag = !flag;
  } else if (argc > 3) {
    cout << "many" << endl;
  }
  flag ? c.reset() : void(c.add(10));
  cout << c.count() << " " << flag << endl;
  std::vector<std::vector<int>> rows(2, std::vector<int>(3));
  rows[1][2] = 4;
  cout << rows[0][2] << rows[1][2] << " " << isnan(sqrt(-1.0)) << std::isinf(1.0) << endl;
  return 0;
}
