// Values that a plugin in a worker makes, and that are larger than a message may be.
#include <gtest/gtest.h>

#include "tests/integration/session/recovery/workers.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::large_values_test {
namespace {

using test::IsOk;
using test::Variable;

// y = SplitToSequence(x), of two rows, each of several pieces.
graph::Model split_model(int64_t width) {
  const auto float_type = [](graph::Shape shape) {
    return graph::testing::tensor_type(ElementType::kFloat, std::move(shape));
  };
  graph::Graph graph = graph::testing::GraphBuilder()
                           .input("x", float_type({2, width}))
                           .node("SplitToSequence", {"x"}, {"y"})
                           .output("y")
                           .build();
  graph.values[graph.outputs[0]].type = {
      .kind = graph::ValueKind::kSequence,
      .nested = std::make_shared<const graph::ValueType>(float_type({1, width}))};
  return test::model_of(std::move(graph));
}

TEST(LargeValues, ComeFromAWorkerInPieces) {
  const Variable program("EPHOST_WORKER_PROGRAM", EPHOST_WORKER_PROGRAM);
  constexpr int64_t kWidth = (int64_t{5} << 20) + 3;  // 20 MiB in a row
  const test::TempDirectory folder;
  SessionOptions options;
  options.add_config_entry("session.isolation.cpu", "worker");
  auto session = Session::create(test::scripted_environment(),
                                 test::save(folder, split_model(kWidth)), options);
  ASSERT_THAT(session, IsOk());
  ASSERT_FALSE(test::worker_processes().empty());
  Value x = *Value::allocate(ElementType::kFloat, {2, kWidth});
  const std::span<std::byte> bytes = x.mutable_bytes();
  const std::span elements(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 1000003);
  const auto outputs = session->run(std::vector<NamedValue>{{"x", x}});
  ASSERT_THAT(outputs, IsOk());
  const std::vector<Value> rows = outputs->front().parts();
  ASSERT_EQ(rows.size(), 2U);
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::span<const std::byte> expected =
        bytes.subspan(row * bytes.size() / 2, bytes.size() / 2);
    EXPECT_TRUE(std::ranges::equal(rows[row].bytes(), expected)) << "row " << row;
  }
}

}  // namespace
}  // namespace ephost::large_values_test
