// Classes, vectors, strings and streams of C++.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

enum class Mode { Train, Test };

class Tensor {
 public:
  Tensor(int rows, int columns, float value = 0.0f)
      : rows_(rows), columns_(columns), data_(rows * columns, value) {}
  ~Tensor() { std::cout << "gone " << rows_ << "x" << columns_ << std::endl; }
  int rows() const { return rows_; }
  size_t size() const { return data_.size(); }
  float get(int r, int c) const { return data_[r * columns_ + c]; }
  void set(int r, int c, float value) { data_[r * columns_ + c] = value; }
  float *data() { return data_.data(); }
  void scale(float by);

 private:
  int rows_, columns_;
  std::vector<float> data_;
};

void Tensor::scale(float by) {
  for (size_t i = 0; i < data_.size(); i++) data_[i] *= by;
}

struct Pads {
  int top = 1, left = 2;
  int both() const { return top + left; }
};

static int widened(Pads pads) {
  pads.left *= 10;
  return pads.both();
}

struct Options {
  int epochs = 3;
  float rate = 0.5f;
  std::string name = "run";
  std::vector<int> sizes;
};

static float norm(const std::vector<float> &v) {
  float sum = 0;
  for (float x : v) sum += x * x;
  return std::sqrt(sum);
}

static void extend(std::vector<float> &v, float x) { v.push_back(x); }
static void minmax(const std::vector<int> &v, int &low, int &high) {
  low = *std::min_element(v.begin(), v.end());
  high = *std::max_element(v.begin(), v.end());
}

int main() {
  Pads pads;
  std::cout << pads.top << pads.left << " " << widened(pads) << " " << pads.both() << std::endl;
  Options options;
  options.sizes.push_back(4);
  options.sizes.push_back(2);
  options.name += "-a";
  std::cout << options.name << ": " << options.epochs << " " << options.rate << "\n";
  Tensor t(2, 3, 1.5f);
  t.set(1, 2, 4);
  t.scale(2.0f);
  std::cout << t.get(0, 0) << " " << t.get(1, 2) << " " << t.size() << std::endl;
  {
    Tensor inner(1, 1);
    inner.data()[0] = 7;
    std::cout << inner.get(0, 0) << std::endl;
  }
  std::vector<float> v{3.0f, 4.0f};
  std::cout << norm(v) << std::endl;
  extend(v, 12);
  std::vector<float> w = v;
  w[0] = 100;
  std::cout << v[0] << " " << w[0] << " " << v.size() << " " << norm(v) << std::endl;
  std::cout << std::fixed << std::setprecision(3) << v[1] / 3 << " " << 2.5 << "|" << std::endl;
  std::vector<int> numbers = {5, -3, 8};
  int low, high;
  minmax(numbers, low, high);
  std::cout << low << " " << high << " " << std::accumulate(numbers.begin(), numbers.end(), 0)
            << std::endl;
  for (auto &n : numbers) std::cout << n << ",";
  std::cout << std::endl;
  Mode mode = Mode::Test;
  if (mode == Mode::Train) std::cout << "train\n";
  else std::cout << "test\n";
  auto largest = std::max(numbers[0], numbers[2]);
  Tensor last(5, 5), *pointer = &last;
  std::cout << largest << " " << pointer->rows() << " " << static_cast<float>(largest) / 3 << '\n';
  std::string text = options.name + "2";
  const char *c = text.c_str();
  printf("%s\n", c);
  bool done = false;
  while (!done) done = true;
  int *raw = new int[3]();
  raw[1] = 6;
  std::cout << raw[0] + raw[1] << " " << done << std::endl;
  delete[] raw;
  return 0;
}
