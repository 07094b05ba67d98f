// reference.h: the ONNX operators that the dnnl provider takes, computed in the simplest way: loops
// over indices, sums in double. The provider's results are compared with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/fake_graph.h"
#include "tests/unit/plugins/dnnl/arrays.h"

namespace ephost::test {

// The operator and inputs of a node. Integer inputs (axes, shapes) are listed apart from float
// ones, at the same positions.
struct OperatorCall {
  std::string op_type;
  int32_t since_version = 13;
  FakeAttributes attributes;
  std::vector<const Array*> inputs;        // null if omitted or integer
  std::vector<std::vector<int64_t>> ints;  // by input; empty for float ones

  [[nodiscard]] int64_t integer(const std::string& name, int64_t fallback) const;
  [[nodiscard]] double real(const std::string& name, double fallback) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] std::vector<int64_t> integers(const std::string& name,
                                              std::vector<int64_t> fallback) const;
  [[nodiscard]] bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
};

// Aborts the test if the operator is unknown.
[[nodiscard]] Array evaluate(const OperatorCall& invocation);

}  // namespace ephost::test
