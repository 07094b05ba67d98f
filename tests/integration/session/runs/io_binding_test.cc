// Outputs and inputs that are bound by name, and where they lie.
#include <gmock/gmock.h>

#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::io_binding_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class IoBindingTest : public ::testing::Test {
 protected:
  IoBindingTest() {
    auto created =
        Session::create(test::environment(), test::save(folder_, test::scripted_model()));
    EXPECT_THAT(created, IsOk());
    session_.emplace(std::move(created).value());
    auto binding = session_->create_binding();
    EXPECT_THAT(binding, IsOk());
    binding_.emplace(std::move(binding).value());
    bind_input(1);
  }

  static Value values(float number) {
    return *Value::of<float>({4}, std::vector<float>(4, number));
  }
  void bind_input(float number) { EXPECT_THAT(binding_->bind_input("x", values(number)), IsOk()); }
  Status run() { return session_->run(*binding_); }
  [[nodiscard]] float result() const { return binding_->outputs()[0].elements<float>()[0]; }

  test::TempDirectory folder_;
  std::optional<Session> session_;
  std::optional<IoBinding> binding_;
};

TEST_F(IoBindingTest, AllocatesAnOutputThatIsBoundToHostMemory) {
  ASSERT_THAT(binding_->bind_output("y", MemoryInfo::cpu()), IsOk());
  ASSERT_THAT(run(), IsOk());
  EXPECT_EQ(result(), -4.5F);
  EXPECT_EQ(binding_->outputs()[0].memory_info(), MemoryInfo::cpu());
  EXPECT_THAT(binding_->output_names(), ElementsAre("y"));
}

TEST_F(IoBindingTest, LeavesTheCallersMemoryAloneOnceTheHostAllocates) {
  Value mine = values(0);
  ASSERT_THAT(binding_->bind_output("y", mine), IsOk());
  ASSERT_THAT(run(), IsOk());
  EXPECT_EQ(mine.elements<float>()[0], -4.5F);
  ASSERT_THAT(binding_->bind_output("y", MemoryInfo::cpu()), IsOk());
  bind_input(2);
  ASSERT_THAT(run(), IsOk());
  EXPECT_EQ(mine.elements<float>()[0], -4.5F);
  EXPECT_EQ(result(), -7.5F);
}

TEST_F(IoBindingTest, TakesAllKindsOfHostMemory) {
  for (const MemoryType type :
       {MemoryType::kDefault, MemoryType::kCpuInput, MemoryType::kCpuOutput}) {
    EXPECT_THAT(binding_->bind_output("y", {.memory_type = type}), IsOk());
  }
}

TEST_F(IoBindingTest, RefusesMemoryThatOutputsDoNotLieIn) {
  for (const MemoryInfo& memory :
       {MemoryInfo{.name = "Cuda", .device_type = "gpu"}, MemoryInfo{.device_id = 1},
        MemoryInfo{.name = ""}, MemoryInfo{.device_type = "npu"}}) {
    const Status refused = binding_->bind_output("y", memory);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("host memory is MemoryInfo::cpu()"));
  }
  EXPECT_EQ(binding_->bind_output("z", MemoryInfo::cpu()).code(), StatusCode::kNotFound);
}

TEST_F(IoBindingTest, ForgetsWhatWasBound) {
  Value mine = values(0);
  ASSERT_THAT(binding_->bind_output("y", mine), IsOk());
  binding_->clear_bound_outputs();
  ASSERT_THAT(run(), IsOk());
  EXPECT_EQ(mine.elements<float>()[0], 0);
  EXPECT_EQ(result(), -4.5F);
  binding_->clear_bound_inputs();
  EXPECT_THAT(run().message(), HasSubstr("input \"x\" is missing"));
  bind_input(2);
  ASSERT_THAT(run(), IsOk());
  EXPECT_EQ(result(), -7.5F);
}

// Without clearing, the next run would write into it.
TEST_F(IoBindingTest, LeavesOutputsToTheirCopiesOnceTheyAreCleared) {
  ASSERT_THAT(run(), IsOk());
  const Value kept = binding_->outputs()[0];
  binding_->clear_bound_outputs();
  bind_input(2);
  ASSERT_THAT(run(), IsOk());
  EXPECT_EQ(kept.elements<float>()[0], -4.5F);
}

TEST_F(IoBindingTest, InputsAndOutputsLieInHostMemory) {
  EXPECT_THAT(session_->memory_info_for_inputs(), ElementsAre(MemoryInfo::cpu()));
  EXPECT_THAT(session_->memory_info_for_outputs(), ElementsAre(MemoryInfo::cpu()));
  EXPECT_TRUE(Value().memory_info().is_cpu());
}

}  // namespace
}  // namespace ephost::io_binding_test
