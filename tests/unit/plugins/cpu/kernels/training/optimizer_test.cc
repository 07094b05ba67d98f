// Adagrad, Adam and Momentum: one step of each by hand, several tensors at once, refusals.
#include <cmath>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::optimizer_test {
namespace {

std::unique_ptr<SingleNodeGraph> make_step(const std::string& op_type,
                                           const std::vector<Tensor>& inputs,
                                           const Attributes& attributes, std::size_t outputs) {
  auto node = make_node(op_type, 1, inputs, attributes, outputs);
  node->domain("ai.onnx.preview.training");
  return node;
}

const Tensor kRate = floats({}, {0.5F});
Tensor count(int64_t updates) { return tensor<int64_t>({}, {updates}); }
Tensor one(float value) { return floats({1}, {value}); }

TEST(Optimizers, AdagradDividesByTheRootOfAllSquares) {
  const Attributes attributes = {
      {"norm_coefficient", 0.5F}, {"decay_factor", 1.0F}, {"epsilon", 0.0F}};
  // g = 0.5 * 2 + 3, h = 9 + g^2, r = 0.5 / 2
  const auto node = make_step("Adagrad", {kRate, count(1), one(2), one(3), one(9)}, attributes, 2);
  EXPECT_THAT(cpu_session().run(*node), Gives(std::vector{one(2 - 0.25F * 4 / 5), one(25)}));
}

TEST(Optimizers, AdamAdjustsItsRateAfterTheFirstUpdate) {
  const Attributes attributes = {
      {"alpha", 0.5F}, {"beta", 0.75F}, {"epsilon", 0.0F}, {"norm_coefficient_post", 0.5F}};
  const std::vector<Tensor> inputs = {kRate, count(0), one(2), one(4), one(2), one(0)};
  // v = 1 + 2, h = 4
  EXPECT_THAT(cpu_session().run(*make_step("Adam", inputs, attributes, 3)),
              Gives(std::vector{one(0.5F * (2 - 0.5F * 3 / 2)), one(3), one(4)}));
  std::vector<Tensor> later = inputs;
  later[1] = count(1);
  // The rate times sqrt(1 - 0.75) / (1 - 0.5), which is 1.
  EXPECT_THAT(cpu_session().run(*make_step("Adam", later, attributes, 3)),
              Gives(std::vector{one(0.5F * (2 - 0.5F * 3 / 2)), one(3), one(4)}));
}

TEST(Optimizers, MomentumTakesSeveralTensors) {
  Attributes attributes = {{"alpha", 0.5F},
                           {"beta", 2.0F},
                           {"norm_coefficient", 0.0F},
                           {"mode", std::string("standard")}};
  const std::vector<Tensor> inputs = {
      kRate,  count(1),           one(1), floats({2}, {1, 1}), one(10), floats({2}, {1, 2}),
      one(4), floats({2}, {0, 0})};
  EXPECT_THAT(cpu_session().run(*make_step("Momentum", inputs, attributes, 4)),
              Gives(std::vector{one(-10), floats({2}, {0, -1}), one(22), floats({2}, {2, 4})}));
  attributes.back().second = std::string("nesterov");
  // x - r * (g + alpha * v)
  EXPECT_THAT(
      cpu_session().run(*make_step("Momentum", inputs, attributes, 4)),
      Gives(std::vector{one(1 - 0.5F * 21), floats({2}, {0, -1}), one(22), floats({2}, {2, 4})}));
}

TEST(Optimizers, RefuseInputsThatDoNotMatch) {
  const auto outcome = [](const std::string& op_type, const std::vector<Tensor>& inputs) {
    return cpu_session().run(*make_step(op_type, inputs, {}, 2));
  };
  EXPECT_THAT(outcome("Adagrad", {kRate, count(0), one(1), one(1)}),
              Refuses(EPH_INVALID_ARGUMENT, "2 tensors are not a multiple of 3"));
  EXPECT_THAT(outcome("Adagrad", {kRate, count(0), one(1), one(1), floats({2}, {1, 1})}),
              Refuses(EPH_INVALID_ARGUMENT, "input 4 of shape [2] differs"));
  EXPECT_THAT(outcome("Momentum", {kRate, count(0), one(1), one(1), one(1)}),
              Refuses(EPH_INVALID_ARGUMENT, "attribute alpha is missing"));
}

}  // namespace
}  // namespace ephost::test::optimizer_test
