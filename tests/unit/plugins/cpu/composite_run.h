// composite_run.h: runs of kernels whose inputs and outputs are not only tensors. Acts as the host
// in assembling sequences, by copying; maps are not offered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test {

// A tensor, a sequence of tensors, or an empty optional.
struct Composite {
  int32_t kind = EPH_KIND_NONE;
  std::vector<Tensor> tensors;
};
inline Composite one(Tensor tensor) { return {EPH_KIND_TENSOR, {std::move(tensor)}}; }
inline Composite sequence(std::vector<Tensor> tensors) {
  return {EPH_KIND_SEQUENCE, std::move(tensors)};
}

struct CompositeOutcome {
  int32_t code = EPH_OK;
  std::string message;
  Composite output;  // the first
};

// Runs a node with one output about which the model declares nothing. Inputs without a value are
// omitted.
CompositeOutcome run_composite(const std::string& op_type, int32_t since_version,
                               const std::vector<std::optional<Composite>>& inputs,
                               const Attributes& attributes = {});

MATCHER_P(Yields, expected, "succeeds with the expected value") {
  const Composite wanted = expected;
  *result_listener << "code " << arg.code << ": " << arg.message;
  if (arg.code != EPH_OK || arg.output.kind != wanted.kind) return false;
  if (arg.output.tensors.size() != wanted.tensors.size()) return false;
  for (std::size_t i = 0; i < wanted.tensors.size(); ++i) {
    const std::string text = difference(arg.output.tensors[i], wanted.tensors[i], 0, 0);
    if (text.empty()) continue;
    *result_listener << "tensor " << i << ": " << text;
    return false;
  }
  return true;
}

}  // namespace ephost::test
