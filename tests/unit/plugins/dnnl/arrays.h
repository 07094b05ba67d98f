// Arrays of numbers by index, for the reference: simple rather than fast, and without layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/support/tensor_memory.h"

namespace ephost::test {

struct Array {
  Shape shape;
  std::vector<double> data;
};

[[nodiscard]] inline std::vector<float> to_floats(const Array& array) {
  return {array.data.begin(), array.data.end()};
}

using Index = std::vector<int64_t>;
using Unary = std::function<double(double)>;
using Pair = std::function<double(double, double)>;

[[nodiscard]] std::size_t count(const Shape& shape);

// Calls body with every index of a shape in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Index&)>& body);

// The element at an index, whose leading dimensions are dropped and whose extents of 1 broadcast.
[[nodiscard]] double at(const Array& array, const Index& index);

// An array whose elements are computed from their indices.
[[nodiscard]] Array generate(Shape shape, const std::function<double(const Index&)>& element);

// The broadcast shape by numpy's rules.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b);

[[nodiscard]] Array map(const Array& x, const Unary& f);
[[nodiscard]] Array combine(const Array& a, const Array& b, const Pair& f);

}  // namespace ephost::test
