// float16 and bfloat16 in float kernels: every input and output is converted, in each way in which
// the host may present it.
#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::half_types_test {
namespace {

// Numbers that both types hold exactly are written as float and cast.
Tensor to_half(const Tensor& from, int32_t type = EPH_ELEMENT_FLOAT16) {
  return run_one("Cast", 13, {from}, {{"to", int64_t{type}}});
}
Tensor to_float(const Tensor& from) {
  return run_one("Cast", 13, {from}, {{"to", int64_t{EPH_ELEMENT_FLOAT}}});
}

const Tensor kX = floats({2, 3}, {1, -2, 3, -4, 5, -6});
const Tensor kY = floats({2, 3}, {2, 2, -2, -2, 4, 4});

class Halves : public ::testing::TestWithParam<int32_t> {};

TEST_P(Halves, GoThroughElementwiseKernels) {
  const Tensor x = to_half(kX, GetParam());
  const Tensor y = to_half(kY, GetParam());
  EXPECT_THAT(run_node("Add", 14, {x, y}),
              Gives(std::vector{to_half(floats({2, 3}, {3, 0, 1, -6, 9, -2}), GetParam())}));
  EXPECT_THAT(run_node("Max", 13, {x, y}),
              Gives(std::vector{to_half(floats({2, 3}, {2, 2, 3, -2, 5, 4}), GetParam())}));
  EXPECT_THAT(run_node("Abs", 13, {x}),
              Gives(std::vector{to_half(floats({2, 3}, {1, 2, 3, 4, 5, 6}), GetParam())}));
  EXPECT_THAT(run_node("Mod", 13, {x, y}, {{"fmod", int64_t{1}}}),
              Gives(std::vector{to_half(floats({2, 3}, {1, 0, 1, 0, 1, -2}), GetParam())}));
}

TEST_P(Halves, GiveOtherTypesWhereTheOperatorRequiresIt) {
  const Tensor x = to_half(kX, GetParam());
  EXPECT_THAT(run_node("Less", 13, {x, to_half(kY, GetParam())}),
              Gives(std::vector{bools({2, 3}, {1, 1, 0, 1, 0, 1})}));
  EXPECT_THAT(run_node("ArgMax", 13, {x}, {{"axis", int64_t{1}}}),
              Gives(std::vector{tensor<int64_t>({2, 1}, {2, 1})}));
}

TEST_P(Halves, AreReducedAndMultipliedInFloat) {
  const Tensor x = to_half(kX, GetParam());
  EXPECT_THAT(run_node("ReduceSum", 13, {x, ints({1})}),
              Gives(std::vector{to_half(floats({2, 1}, {2, -5}), GetParam())}));
  EXPECT_THAT(run_node("MatMul", 13, {x, to_half(floats({3, 1}, {1, 1, 2}), GetParam())}),
              Gives(std::vector{to_half(floats({2, 1}, {5, -11}), GetParam())}));
}

// In the type itself, adding 2^-9 to 1 again and again would not change it.
TEST_P(Halves, AreSummedWithoutLosingSmallTerms) {
  std::vector<float> values(512, 0x1p-9F);
  values.push_back(1);
  const Tensor x = to_half(floats({513}, values), GetParam());
  EXPECT_THAT(run_node("ReduceSum", 13, {x}, {{"keepdims", int64_t{0}}}),
              Gives(std::vector{to_half(floats({}, {2}), GetParam())}));
}

TEST_P(Halves, ServeAsConstants) {
  const Tensor x = to_half(kX, GetParam());
  for (const Stated stated : {Stated::kNothing, Stated::kTypes, Stated::kTypesAndShapes}) {
    SingleNodeGraph node("MatMul", 13);
    node.input(x).constant(to_half(floats({3, 2}, {1, 0, 0, 1, 1, 0}), GetParam()));
    node.output(to_half(floats({2, 2}, {0, 0, 0, 0}), GetParam())).state(stated);
    EXPECT_THAT(cpu_session().run(node),
                Gives(std::vector{to_half(floats({2, 2}, {4, -2, -10, 5}), GetParam())}));
  }
}

TEST_P(Halves, MayShareTheMemoryOfInputAndOutput) {
  const Tensor x = to_half(kX, GetParam());
  SingleNodeGraph node("Relu", 14);
  node.input(x).output(x);
  Outcome outcome;
  const auto kernel = cpu_session().create(node, &outcome);
  ASSERT_NE(kernel, nullptr) << outcome.message;
  EXPECT_THAT(kernel->run(eph_slot_pair{0, 0}),
              Gives(std::vector{to_half(floats({2, 3}, {1, 0, 3, 0, 5, 0}), GetParam())}));
}

TEST_P(Halves, MayBeEmpty) {
  const Tensor none = {GetParam(), {0, 3}, {}, {}};
  EXPECT_THAT(run_node("Exp", 13, {none}), Gives(std::vector{none}));
}

INSTANTIATE_TEST_SUITE_P(Types, Halves,
                         ::testing::Values(EPH_ELEMENT_FLOAT16, EPH_ELEMENT_BFLOAT16),
                         [](const auto& test) {
                           return std::string(test.param == EPH_ELEMENT_FLOAT16 ? "float16"
                                                                                : "bfloat16");
                         });

TEST(HalfTypes, DoNotMixWithOthers) {
  const auto node = make_node("Add", 14, {to_half(kX), kY});
  EXPECT_THAT(cpu_session().run(*node),
              Refuses(EPH_INVALID_ARGUMENT, "inputs of types float16 and float are incompatible"));
}

// Scale and bias of a layer normalisation are halves as its input, statistics float.
TEST(HalfTypes, LeaveOutputsThatTheModelStatesAsFloat) {
  const Tensor x = to_half(floats({1, 2}, {1, 3}));
  SingleNodeGraph node("LayerNormalization", 17);
  node.input(x).input(to_half(floats({2}, {1, 1})));
  node.output(x).output(floats({1, 1}, {0}));
  const Outcome outcome = cpu_session().run(node);
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(difference(to_float(outcome.outputs[0]), floats({1, 2}, {-1, 1}), 1e-3), "");
  EXPECT_EQ(difference(outcome.outputs[1], floats({1, 1}, {2})), "");
}

}  // namespace
}  // namespace ephost::test::half_types_test
