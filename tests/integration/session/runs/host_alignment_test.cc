// Computations that want host memory to be aligned to more than 64 bytes: the scripted provider
// fails a call whose inputs, outputs or workspace are not.
#include <gmock/gmock.h>

#include "tests/integration/session/flow_models.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::host_alignment_test {
namespace {

using test::IsOk;
using test::scripted;
using ::testing::HasSubstr;

constexpr size_t kWidth = 100;

// Bytes at an address that is aligned to a float and to nothing more.
class Misaligned {
 public:
  explicit Misaligned(size_t count) : floats_(count + 64) {
    const auto address = reinterpret_cast<uintptr_t>(floats_.data());
    begin_ = (64 - address % 64) % 64 / sizeof(float) + 1;
    count_ = count;
  }
  [[nodiscard]] std::span<float> floats() { return {floats_.data() + begin_, count_}; }
  [[nodiscard]] Value value() {
    return *Value::borrow(ElementType::kFloat, {static_cast<int64_t>(count_)},
                          std::as_writable_bytes(floats()));
  }

 private:
  std::vector<float> floats_;
  size_t begin_ = 0;
  size_t count_ = 0;
};

class HostAlignment : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  static SessionOptions options() {
    return scripted({{"claim", std::get<0>(GetParam())},
                     {"host_alignment", std::get<1>(GetParam())},
                     {"workspace_bytes", "1000"}});
  }
  test::TempDirectory folder_;
};

TEST_P(HostAlignment, HoldsForEveryArgument) {
  const auto path = test::save(folder_, test::scripted_model(kWidth));
  auto session = Session::create(test::scripted_environment(), path, options());
  ASSERT_THAT(session, IsOk());
  EXPECT_TRUE(session->fallbacks().empty());
  Misaligned x(kWidth);
  Misaligned y(kWidth);
  for (size_t i = 0; i < kWidth; ++i) x.floats()[i] = static_cast<float>(i) - 50;
  for (int round = 0; round < 2; ++round) {
    IoBinding binding = *session->create_binding();
    ASSERT_THAT(binding.bind_input("x", x.value()), IsOk());
    if (round == 1) {
      ASSERT_THAT(binding.bind_output("y", y.value()), IsOk());
    }
    const Status status = session->run(binding);
    ASSERT_THAT(status, IsOk());
    const std::span<const float> out = binding.outputs()[0].elements<float>();
    for (size_t i = 0; i < kWidth; ++i) {
      EXPECT_EQ(out[i], -3 * std::max(x.floats()[i] + 0.5F, 0.0F)) << i;
    }
    EXPECT_EQ(x.floats()[7], -43);
  }
  EXPECT_EQ(y.floats()[99], -3 * 49.5F);
}

TEST_P(HostAlignment, HoldsWhereShapesAreOpen) {
  graph::Model model = test::scripted_model();
  for (graph::Value& value : model.graph.values) {
    if (!value.is_constant()) value.type.shape = graph::Shape{graph::symbolic_dim(0)};
  }
  for (const char* name : {"w0", "w1"}) {
    const graph::ValueId id = model.graph.find_value(name);
    model.graph.initializers[model.graph.values[id].initializer] =
        test::row(1, name[1] == '0' ? 0.5F : 3);
    model.graph.values[id].type.shape = graph::Shape{1};
  }
  model.symbols = {"n"};
  const auto path = test::save(folder_, model);
  auto session = Session::create(test::scripted_environment(), path, options());
  ASSERT_THAT(session, IsOk());
  for (const int64_t width : {5, 3, 5, 5}) {
    Misaligned x(static_cast<size_t>(width));
    std::ranges::fill(x.floats(), 1.5F);
    const auto outputs = session->run({{{"x", x.value()}}});
    ASSERT_THAT(outputs, IsOk());
    EXPECT_EQ((*outputs)[0].elements<float>()[2], -6);
  }
}

INSTANTIATE_TEST_SUITE_P(Claims, HostAlignment,
                         ::testing::Combine(::testing::Values("fuse:*", "kernels:*", "every:1"),
                                            ::testing::Values("128", "4096", "2097152")),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).substr(0, 4) + "_" +
                                  std::get<1>(tested.param);
                         });

TEST(HostAlignmentSession, HoldsInBodies) {
  const test::TempDirectory folder;
  const auto path = test::write_model(folder / "model.onnx", test::nested_flow());
  auto session = Session::create(test::scripted_environment(), path,
                                 scripted({{"claim", "kernels:*"}, {"host_alignment", "4096"}}));
  ASSERT_THAT(session, IsOk());
  const std::vector<float> x = {0.5F, -1.25F};
  for (const int64_t count : {3, 0, 5}) {
    const auto outputs = session->run(test::nested_flow_inputs(count, true, x));
    ASSERT_THAT(outputs, IsOk());
    test::expect_nested_flow(*outputs, count, true, x);
  }
}

TEST(HostAlignmentSession, RefusesWhatIsNoAlignment) {
  const test::TempDirectory folder;
  const auto path = test::save(folder, test::scripted_model());
  for (const std::string alignment : {"96", "4194304"}) {
    const auto session = Session::create(test::scripted_environment(), path,
                                         scripted({{"host_alignment", alignment}}));
    ASSERT_THAT(session, IsOk());
    ASSERT_FALSE(session->fallbacks().empty());
    EXPECT_THAT(session->fallbacks()[0].reason.message(),
                HasSubstr("ScriptedExecutionProvider reports a host_alignment of " + alignment +
                          " for a computation; it has to be a power of two of at most 2097152"));
  }
}

}  // namespace
}  // namespace ephost::host_alignment_test
