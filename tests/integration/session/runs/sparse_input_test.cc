// Sparse tensors as inputs of models that declare a dense or a sparse input.
#include <gmock/gmock.h>

#include "host/runtime/values/sparse_tensor.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::sparse_input_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = x + x for 2 by 2 numbers
graph::Model doubling(graph::ValueKind kind) {
  graph::ValueType type = graph::testing::tensor_type(ElementType::kFloat, graph::Shape{2, 2});
  type.kind = kind;
  return test::model_of(
      GraphBuilder().input("x", type).node("Add", {"x", "x"}, {"y"}).output("y").build());
}

Value sparse(std::vector<int64_t> shape = {2, 2}) {
  return *Value::of_sparse({.shape = std::move(shape),
                            .values = *Value::of<float>({2}, std::vector<float>{1, 2}),
                            .indices = {1, 2}});
}

class SparseInput : public ::testing::TestWithParam<graph::ValueKind> {
 protected:
  Session create(const SessionOptions& options = {}) {
    auto session = Session::create(test::environment(), model_, options);
    EXPECT_THAT(session, IsOk());
    return std::move(session).value();
  }

  test::TempDirectory folder_;
  std::filesystem::path model_ = test::save(folder_, doubling(GetParam()));
};

TEST_P(SparseInput, IsGivenToTheModelInItsDenseForm) {
  Session session = create();
  EXPECT_EQ(session.inputs()[0].type, "float[2,2]");
  const auto outputs = session.run({{{"x", sparse()}}});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0].elements<float>(), ElementsAre(0, 2, 4, 0));
}

TEST_P(SparseInput, MayBeDense) {
  Session session = create();
  const auto outputs =
      session.run({{{"x", *Value::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4})}}});
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT((*outputs)[0].elements<float>(), ElementsAre(2, 4, 6, 8));
}

TEST_P(SparseInput, MayBeBound) {
  Session session = create();
  auto binding = session.create_binding();
  ASSERT_THAT(binding, IsOk());
  ASSERT_THAT(binding->bind_input("x", sparse()), IsOk());
  EXPECT_THAT(binding->bind_input("x", sparse({4})).message(), HasSubstr("cannot bind float[4]"));
  EXPECT_THAT(binding->bind_output("y", sparse()).message(),
              HasSubstr("cannot be written to a sparse tensor"));
  for (int run = 0; run < 2; ++run) {
    ASSERT_THAT(session.run(*binding), IsOk());
    EXPECT_THAT(binding->outputs()[0].elements<float>(), ElementsAre(0, 2, 4, 0));
  }
}

TEST_P(SparseInput, MustHaveTheShapeOfTheInput) {
  Session session = create();
  EXPECT_THAT(session.run({{{"x", sparse({4})}}}).status().message(),
              HasSubstr("input \"x\" got float[4], the model wants float[2,2]"));
}

TEST_P(SparseInput, IsLimitedInItsDenseForm) {
  SessionOptions options;
  options.add_config_entry("session.sparse_initializers_max_bytes", "15");
  Session session = create(options);
  const Status refused = session.run({{{"x", sparse()}}}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("needs 16 bytes, but 15 remain"));
  auto binding = session.create_binding();
  EXPECT_THAT(binding->bind_input("x", sparse()).message(), HasSubstr("but 15 remain"));
}

TEST_P(SparseInput, GoesIntoTheBackgroundToo) {
  std::optional<Session> session = create();
  std::vector<float> result;
  ASSERT_THAT(session->run_async({{{"x", sparse()}}}, {},
                                 [&](const Status& status, const std::vector<Value>& outputs) {
                                   ASSERT_THAT(status, IsOk());
                                   const auto elements = outputs[0].elements<float>();
                                   result.assign(elements.begin(), elements.end());
                                 }),
              IsOk());
  session.reset();
  EXPECT_THAT(result, ElementsAre(0, 2, 4, 0));
}

INSTANTIATE_TEST_SUITE_P(Declared, SparseInput,
                         ::testing::Values(graph::ValueKind::kTensor,
                                           graph::ValueKind::kSparseTensor),
                         [](const auto& kind) {
                           return kind.param == graph::ValueKind::kTensor ? "Dense" : "Sparse";
                         });

}  // namespace
}  // namespace ephost::sparse_input_test
