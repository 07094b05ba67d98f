// What the layer "validate" compares results with.
#include "host/session/creation/cpu_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tensor_memory.h"

namespace ephost::session::cpu_reference_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

// A model of one operator, from "x" to "y".
Result<std::shared_ptr<layers::Reference>> make_reference(const Environment& environment,
                                                          const std::string& op_type) {
  const graph::Model model = test::model_of(graph::testing::GraphBuilder()
                                                .input("x", test::row_type(3))
                                                .node(op_type, {"x"}, {"y"})
                                                .output("y")
                                                .build());
  const auto exported = onnx_io::export_model(model, {});
  EXPECT_THAT(exported, IsOk());
  return cpu_references(inside(environment), {})(exported->model.to_bytes());
}

TEST(CpuReference, RunsAGraph) {
  const auto reference = make_reference(test::environment(), "Neg");
  ASSERT_THAT(reference, IsOk());
  const test::FloatTensor x({3}, {1, 2, 3});
  const std::vector<const eph_value*> inputs = {&x.value};
  const auto outputs = (*reference)->run(inputs);
  ASSERT_THAT(outputs, IsOk());
  ASSERT_EQ(outputs->size(), 1U);
  const layers::Reference::Output& y = outputs->front();
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.value.shape, std::vector<int64_t>{3});
  ASSERT_EQ(y.value.bytes.size(), 3 * sizeof(float));
  EXPECT_EQ(reinterpret_cast<const float*>(y.value.bytes.data())[2], -3);
}

TEST(CpuReference, FailsForValuesThatAreNoTensorsOfNumbers) {
  const auto reference = make_reference(test::environment(), "Neg");
  ASSERT_THAT(reference, IsOk());
  test::FloatTensor x({3}, {1, 2, 3});
  x.value.memory = 1;
  const std::vector<const eph_value*> inputs = {&x.value};
  EXPECT_EQ((*reference)->run(inputs).status().code(), StatusCode::kNotImplemented);
  EXPECT_EQ((*reference)->run({}).status().code(), StatusCode::kInvalidArgument);
}

TEST(CpuReference, RefusesRandomResults) {
  const auto reference = make_reference(test::environment(), "RandomNormalLike");
  EXPECT_EQ(reference.status().code(), StatusCode::kNotImplemented);
  EXPECT_THAT(reference.status().message(), HasSubstr("RandomNormalLike are random"));
}

TEST(CpuReference, DoesNotKeepTheEnvironment) {
  layers::MakeReference make;
  {
    const Environment environment = test::environment();
    make = cpu_references(inside(environment), {});
  }
  EXPECT_THAT(make({}).status().message(), HasSubstr("its environment has ended"));
}

}  // namespace
}  // namespace ephost::session::cpu_reference_test
