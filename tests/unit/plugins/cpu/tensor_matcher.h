// tensor_matcher.h: a matcher that compares tensors in the tests of kernels.
#pragma once

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "tests/support/single_node_graph.h"

namespace ephost::test {

// Empty if both agree; otherwise what differs. Integers and strings must be equal; floating-point
// numbers may differ by `absolute` + `relative` * |expected|, NaN agrees with NaN.
std::string difference(const Tensor& actual, const Tensor& expected, double relative = 1e-3,
                       double absolute = 1e-5);

// Matches an Outcome that succeeded with exactly these tensors.
MATCHER_P(Gives, expected, "succeeds with the expected tensors") {
  if (!arg.ok()) {
    *result_listener << "failed: " << arg.message;
    return false;
  }
  const std::vector<Tensor> tensors = expected;
  if (arg.outputs.size() != tensors.size()) return false;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string text = difference(arg.outputs[i], tensors[i], 1e-5, 1e-6);
    if (text.empty()) continue;
    *result_listener << "output " << i << ": " << text;
    return false;
  }
  return true;
}

// Matches an Outcome that failed with that code and a message that contains `text`.
MATCHER_P2(Refuses, code, text, "fails with the code and a message that contains the text") {
  *result_listener << "code " << arg.code << ": " << arg.message;
  return arg.code == code && arg.message.find(text) != std::string::npos;
}

}  // namespace ephost::test
