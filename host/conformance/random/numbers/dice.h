// dice.h: seeded random choices for tests; the same seed makes the same choices.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string>

namespace ephost::conformance {

class Dice {
 public:
  explicit Dice(const std::string& seed) {
    std::seed_seq sequence(seed.begin(), seed.end());
    engine_.seed(sequence);
  }

  // From low to high, both inclusive.
  int64_t roll(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  bool one_in(int64_t n) { return roll(1, n) == 1; }
  // An element of the container, which is not empty.
  template <class Items>
  auto& pick(Items&& items) {
    return items[static_cast<decltype(items.size())>(roll(0, std::ssize(items) - 1))];
  }
  template <class T>
  T pick(std::initializer_list<T> items) {
    return items.begin()[roll(0, std::ssize(items) - 1)];
  }

 private:
  std::mt19937 engine_;
};

}  // namespace ephost::conformance
