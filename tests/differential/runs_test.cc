// What the comparison reports about results, and that it reports failures.
#include "tests/differential/runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/differential/campaign.h"
#include "tests/support/temp_directory.h"

namespace ephost::test::runs_test {
namespace {

using ::testing::HasSubstr;

const BoundedTensor kExpected = {{2}, {{1, 0.001}, {-2, 0.001}}, {}};

Value floats(std::vector<int64_t> shape, std::vector<float> numbers) {
  return Value::of<float>(std::move(shape), numbers).value();
}

TEST(WrongElement, IsNamedWithWhatWasExpected) {
  EXPECT_EQ(find_wrong_element(floats({2}, {1.0005F, -2}), kExpected), std::nullopt);
  const auto wrong = find_wrong_element(floats({2}, {1, -2.1F}), kExpected);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_THAT(*wrong, HasSubstr("element 1 of [2] is -2.0999999, expected -2 within 0.001"));
}

TEST(WrongElement, IsFoundInAnotherShape) {
  const auto wrong = find_wrong_element(floats({1, 2}, {1, -2}), kExpected);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_THAT(*wrong, HasSubstr("shape [1,2], expected [2]"));
}

TEST(Ways, CompareProvidersLevelsContextModelsAndOptimizedModels) {
  const std::vector<Way> ways = ways_for(1);
  ASSERT_EQ(ways.size(), 6U);
  EXPECT_EQ(ways[0].name, "cpu, disable_all");
  EXPECT_TRUE(ways[0].options.providers().empty());
  EXPECT_EQ(ways[2].options.providers().size(), 1U);
  EXPECT_NE(ways[4].context, Way::Context::kNone);
  EXPECT_EQ(ways[5].context, Way::Context::kOptimized);
}

// A case with these nodes, one after the other, on one input.
Case chain_of(std::vector<Draft> drafts) {
  RandomGraph graph(2);
  std::string value = graph.input({40}, {0.2, 0.9});
  for (Draft& draft : drafts) value = graph.add(draft.read(value)).value();
  return graph.grow(0);
}

TEST(Runner, AgreesWithPlugins) {
  const Case tested = chain_of({Draft("Relu"), Draft("Tanh")});
  EXPECT_FALSE(Runner(EPHOST_PLUGINS).run(tested, ways_for(1)).failure.has_value());
}

TEST(Runner, FindsWrongResults) {
  // Casts are evaluated as if all types were float; here the CPU provider truncates fractions.
  const Case tested = chain_of({Draft("Cast").integer("to", onnx::TensorProto::INT32),
                                Draft("Cast").integer("to", onnx::TensorProto::FLOAT)});
  const auto failure = Runner(EPHOST_PLUGINS).run(tested, ways_for(1)).failure;
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind, Failure::Kind::kWrongResult);
  EXPECT_THAT(failure->text, HasSubstr("cpu, disable_all: run 0: output"));
}

TEST(Runner, FindsModelsThatNoSessionAccepts) {
  Case tested = chain_of({Draft("Relu")});
  tested.model.mutable_graph()->mutable_node(0)->add_attribute()->set_name("no_such_attribute");
  const auto failure = Runner(EPHOST_PLUGINS).run(tested, ways_for(1)).failure;
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind, Failure::Kind::kNoSession);
}

TEST(Runner, RefusesCasesThatCannotBeEvaluated) {
  Case tested = chain_of({Draft("Relu")});
  tested.model.mutable_graph()->mutable_node(0)->set_op_type("NoSuchOperator");
  const auto failure = Runner(EPHOST_PLUGINS).run(tested, ways_for(1)).failure;
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind, Failure::Kind::kInvalid);
}

TEST(Campaign, CountsACrashAsAFailureOfItsSeed) {
  const TempDirectory without_plugins;
  const Tally tally =
      run_seeds(5, 3, 2, without_plugins.path(), [](uint64_t, const std::string&) {});
  EXPECT_EQ(tally.cases, 3U);
  EXPECT_EQ(tally.failures, 3U);
}

TEST(Campaign, RunsEverySeed) {
  const Tally tally =
      run_seeds(1, 7, 2, EPHOST_PLUGINS, [](uint64_t seed, const std::string& text) {
        ADD_FAILURE() << "seed " << seed << ": " << text;
      });
  EXPECT_EQ(tally.cases, 7U);
  EXPECT_EQ(tally.failures, 0U);
}

}  // namespace
}  // namespace ephost::test::runs_test
