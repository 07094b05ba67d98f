// cpu_test.h: the common part of the tests of the CPU provider's kernels: a session over the built
// library, random tensors, and terse ways to run a node.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/single_node_graph.h"
#include "tests/unit/plugins/cpu/tensor_matcher.h"

namespace ephost::test {

// One session for the process.
PluginSession& cpu_session();

using Attributes = std::vector<std::pair<std::string, NodeAttribute>>;

// A node over these inputs with `outputs` outputs, about which nothing is stated.
std::unique_ptr<SingleNodeGraph> make_node(const std::string& op_type, int32_t since_version,
                                           const std::vector<Tensor>& inputs,
                                           const Attributes& attributes = {},
                                           std::size_t outputs = 1);

// Runs such a node.
Outcome run_node(const std::string& op_type, int32_t since_version,
                 const std::vector<Tensor>& inputs, const Attributes& attributes = {},
                 std::size_t outputs = 1);

// The only output of a node that is expected to succeed.
Tensor run_one(const std::string& op_type, int32_t since_version, const std::vector<Tensor>& inputs,
               const Attributes& attributes = {});

int64_t count_of(const Shape& shape);

// Numbers uniform between low and high; the same for the same seed.
Tensor random_floats(const Shape& shape, uint32_t seed = 1, float low = -1, float high = 1);

// The same numbers as doubles, and back.
std::vector<double> as_doubles(const Tensor& from);
Tensor from_doubles(const Shape& shape, const std::vector<double>& values);
Tensor to_double_tensor(const Tensor& from);

}  // namespace ephost::test
