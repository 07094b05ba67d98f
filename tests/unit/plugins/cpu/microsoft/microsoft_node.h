// microsoft_node.h: runs of nodes of com.microsoft as a host would: with the defaults of the
// plugin's definitions, and with the types that its inference functions find.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/plugins/cpu/cpu_test.h"
#include "tests/unit/plugins/cpu/microsoft/definitions.h"

namespace ephost::test {

// Nothing for an omitted one.
using Arguments = std::vector<std::optional<Tensor>>;

// Runs the node in several ways: with types and shapes stated or not, with constants or without.
// All of them must give the same, and what inference says must be what comes out. Those that differ
// are failures of the test.
Outcome run_microsoft(const std::string& op_type, const Arguments& inputs,
                      const Attributes& attributes = {}, std::size_t outputs = 1);

// The only output of a node that is expected to succeed.
Tensor run_microsoft_one(const std::string& op_type, const Arguments& inputs,
                         const Attributes& attributes = {});

// What inference says about the first output when all types and shapes are stated, or why it fails.
struct Inferred {
  int32_t code = EPH_OK;
  std::string message;
  int32_t type = EPH_ELEMENT_UNDEFINED;
  std::optional<Shape> shape;
};
Inferred infer_microsoft(const std::string& op_type, const Arguments& inputs,
                         const Attributes& attributes = {});

// Makes the kernel and runs it once, without inference: what it answers to arguments that no model
// with known shapes would give it.
Outcome run_unchecked(const std::string& op_type, const Arguments& inputs,
                      const Attributes& attributes = {});

// Random bytes, and bytes as numbers.
template <class T>
Tensor random_bytes(const Shape& shape, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> draw(std::numeric_limits<T>::min(),
                                          std::numeric_limits<T>::max());
  std::vector<T> values(static_cast<std::size_t>(count_of(shape)));
  for (T& value : values) value = static_cast<T>(draw(engine));
  return tensor<T>(shape, values);
}

// [N, C, H, W] as [N, H, W, C].
template <class T>
Tensor channels_last(const Tensor& x) {
  const auto from = values_of<T>(x);
  const int64_t area = x.shape[2] * x.shape[3];
  std::vector<T> to(from.size());
  for (int64_t i = 0; i < std::ssize(from); ++i) {
    const int64_t n = i / area / x.shape[1];
    const int64_t c = i / area % x.shape[1];
    to[static_cast<std::size_t>((n * area + i % area) * x.shape[1] + c)] =
        from[static_cast<std::size_t>(i)];
  }
  return tensor<T>({x.shape[0], x.shape[2], x.shape[3], x.shape[1]}, to);
}

inline Tensor scalar(float value) { return floats({}, {value}); }
template <class T>
Tensor scalar_of(T value) {
  return tensor<T>({}, {value});
}

}  // namespace ephost::test
