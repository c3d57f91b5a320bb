// What the translator knows of C++: strings, exceptions, ranges, vectors, references, printing.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

static int parsed(const char *text) {
  try {
    return std::stoi(text);
  } catch (const std::exception &error) {
    std::printf("caught: %s\n", error.what());
  }
  return -1;
}

static void check(int code, const std::string &what) {
  if (code != 0) {
    throw std::runtime_error("failed: " + what);
  }
}

enum class Mode { Train, Test };
typedef std::vector<float> Row;
using Index = unsigned int;

static void halve(float &x) { x /= 2; }
extern "C" {
static void reset(Row &row, const Row &from) { row = from; }
}
static void extend(Row &row, float x) { row.push_back(x); }

static void library() {
  Row row{3.0f, 4.0f}, other = row;
  extend(row, 12);
  other[0] = 100;
  halve(row[1]);
  float x = 5;
  halve(x);
  std::cout << row[0] << " " << row[1] << " " << row.back() << " " << x << " " << row.size() << "\n";
  Row copy(row), again;
  Row &same = again;
  reset(again, row);
  row.pop_back();
  auto left = row.size();
  std::cout << left << copy.size() << same.front() << again.empty() << std::abs(-2.5f) << "\n";
  copy.clear();
  again[0] = 8;
  std::cout << copy.empty() << copy.size() << row.front() << same[0] << "\n";
  std::vector<Row> matrix(2, Row(3, 1.0f));
  matrix[1][2] = 7;
  const Row &view = matrix[1];
  for (auto &r : matrix) r[2] += 0.5f;
  std::cout << view[2] << '|' << matrix[0][2] << std::endl;
  Mode mode = Mode::Test;
  if (mode == Mode::Train) std::cout << "train\n";
  Index u{3}, none{};
  std::cout << u - 4 << " " << static_cast<int>(u) - 4 << " " << std::sqrt(2.0f) << " "
            << std::max(3, 4) << std::min(2.5, 1.5) << " " << 1e10 << " " << (u > 2) << none << std::endl;
  std::cerr << "an error" << std::endl;
}

int main() {
  library();
  std::string mode = "train", other("test");
  const char *word = "train";
  std::printf("%d %d %d %d\n", mode == "train", mode != other, mode == word, other < mode);
  std::printf("%d %d %d\n", (int)mode.size(), (int)std::string("").empty(), (int)other.length());
  std::printf("%d %d %d\n", parsed("42 rows"), parsed("-7"), parsed("none"));

  for (int code = 0; code < 2; code++) {
    try {
      check(code, mode);
      std::printf("passed\n");
    } catch (const std::runtime_error &error) {
      std::printf("%s\n", error.what());
    } catch (...) {
      std::printf("something else\n");
    }
  }
  try {
    try {
      throw std::invalid_argument("inner");
    } catch (const std::runtime_error &) {
      std::printf("not this one\n");
    } catch (...) {
      std::printf("again\n");
      throw;
    }
  } catch (const std::logic_error &error) {
    std::printf("outer: %s\n", error.what());
  }

  float numbers[] = {1.5f, 2.5f, 3.5f, 4.5f};
  std::vector<float> all(numbers, numbers + 4), middle(all.begin() + 1, all.end() - 1);
  for (float &number : all) {
    number *= 2;
    if (number > 6) number += 0.25f;
  }
  int counts[3] = {1, 2, 3};
  for (auto &count : counts) count++;
  float sum = 0;
  for (const float &number : all) sum += number;
  std::printf("%g %zu %g %d %d\n", sum, middle.size(), middle[0], counts[0], counts[2]);
  middle.resize(5, 7.5f);
  std::printf("%zu %g %g\n", middle.size(), middle[1], middle.back());
  return parsed("3");
}
