#include "host/conformance/random/generate/random_graph.h"

#include <gtest/gtest.h>

#include <set>

namespace ephost::conformance::random_graph_test {
namespace {

TEST(RandomCase, IsTheSameForTheSameSeed) {
  EXPECT_EQ(make_random_case(11).model.SerializeAsString(),
            make_random_case(11).model.SerializeAsString());
  EXPECT_NE(make_random_case(11).model.SerializeAsString(),
            make_random_case(12).model.SerializeAsString());
}

// Special numbers leave some elements without a bound; too many of them would hide errors.
TEST(RandomCase, HasBoundsForNearlyAllElements) {
  int64_t elements = 0, bounded = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Case made = make_random_case(seed);
    for (const BoundedValues& inputs : made.inputs) {
      const BoundedValues values = evaluate_model(made.model, inputs);
      for (const onnx::ValueInfoProto& output : made.model.graph().output()) {
        for (const Bounded& x : values.at(output.name()).numbers) {
          ++elements;
          if (x.error <= 1e-3) ++bounded;
        }
      }
    }
  }
  EXPECT_GT(elements, 10000);
  EXPECT_GT(static_cast<double>(bounded) / static_cast<double>(elements), 0.97);
}

// The operators of plugins/dnnl: one that is missing here would not be tested.
TEST(RandomCase, UsesEveryOperatorOfTheDnnlProvider) {
  std::set<std::string> used;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    const Case made = make_random_case(seed);
    for (const onnx::NodeProto& node : made.model.graph().node()) used.insert(node.op_type());
  }
  for (const char* name : {"Abs",
                           "Add",
                           "AveragePool",
                           "BatchNormalization",
                           "Clip",
                           "Concat",
                           "Conv",
                           "Div",
                           "Dropout",
                           "Elu",
                           "Erf",
                           "Exp",
                           "Flatten",
                           "Gemm",
                           "GlobalAveragePool",
                           "GlobalMaxPool",
                           "HardSwish",
                           "Identity",
                           "LRN",
                           "LayerNormalization",
                           "LeakyRelu",
                           "Log",
                           "LogSoftmax",
                           "MatMul",
                           "Max",
                           "MaxPool",
                           "Min",
                           "Mul",
                           "Neg",
                           "Pow",
                           "Reciprocal",
                           "ReduceMax",
                           "ReduceMean",
                           "ReduceMin",
                           "ReduceProd",
                           "ReduceSum",
                           "Relu",
                           "Reshape",
                           "Sigmoid",
                           "Softmax",
                           "Sqrt",
                           "Squeeze",
                           "Sub",
                           "Sum",
                           "Tanh",
                           "Transpose",
                           "Unsqueeze"}) {
    EXPECT_TRUE(used.contains(name)) << name;
  }
}

}  // namespace
}  // namespace ephost::conformance::random_graph_test
