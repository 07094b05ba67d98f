// What the layer "validate" finds in one call of `compute`: a function that stands for a plugin
// gets guarded arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "host/layers/validate/guarded_run.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_run.h"

namespace ephost::layers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Compute = std::function<void(eph_run& run)>;

float* floats(const eph_value& value) { return static_cast<float*>(value.data); }

// Doubles its input.
void compute_well(eph_run& run) {
  for (int i = 0; i < 3; ++i) floats(*run.outputs[0])[i] = 2 * floats(*run.inputs[0])[i];
}

class GuardedRunTest : public ::testing::Test {
 protected:
  // What is found in a run of `compute` with an input and an output of three floats.
  std::vector<std::string> faults_of(const Compute& compute) {
    test::FakeRun run({&input}, {&output}, kWorkspace);
    GuardedRun guarded(&run, {.workspace_bytes = kWorkspace}, Guard::kZones, std::byte{0xA5});
    compute(guarded);
    std::vector<std::string> found;
    for (const RunFault& fault : guarded.faults(true)) found.push_back(fault.what);
    untouched = guarded.untouched();
    guarded.finish();
    return found;
  }

  static constexpr uint64_t kWorkspace = 24;
  test::FloatTensor input{{3}, {1, 2, 3}};
  test::FloatTensor output{{3}, {0, 0, 0}};
  std::vector<GuardedRun::Untouched> untouched;
};

TEST_F(GuardedRunTest, FindsNothingInARunThatIsRight) {
  EXPECT_THAT(faults_of(&compute_well), IsEmpty());
  EXPECT_THAT(untouched, IsEmpty());
  EXPECT_THAT(output.values(), ElementsAre(2, 4, 6));
}

TEST_F(GuardedRunTest, FindsWritesBehindAnOutput) {
  const auto found = faults_of([](eph_run& run) {
    compute_well(run);
    floats(*run.outputs[0])[3] = 1;
  });
  EXPECT_THAT(found, ElementsAre(HasSubstr("behind output 0, which has 12 bytes")));
}

TEST_F(GuardedRunTest, FindsWritesBeforeAnOutput) {
  const auto found = faults_of([](eph_run& run) {
    compute_well(run);
    floats(*run.outputs[0])[-2] = 1;
  });
  EXPECT_THAT(found, ElementsAre(HasSubstr("before output 0")));
}

TEST_F(GuardedRunTest, FindsWritesBehindTheWorkspace) {
  const auto found = faults_of([](eph_run& run) {
    compute_well(run);
    static_cast<char*>(run.workspace)[kWorkspace] = 1;
  });
  EXPECT_THAT(found, ElementsAre(HasSubstr("wrote up to 1 byte behind the workspace")));
}

TEST_F(GuardedRunTest, FindsWritesBehindScratchMemory) {
  const auto found = faults_of([](eph_run& run) {
    compute_well(run);
    auto* const scratch = static_cast<char*>(run.api->allocate_scratch(&run, 100));
    std::memset(scratch, 0, 101);
  });
  EXPECT_THAT(found, ElementsAre(HasSubstr("behind scratch memory")));
}

TEST_F(GuardedRunTest, FindsInputsThatChange) {
  const auto found = faults_of([](eph_run& run) {
    compute_well(run);
    floats(*run.inputs[0])[1] = 7;
  });
  EXPECT_THAT(found, ElementsAre("changed input 0"));
  EXPECT_THAT(input.values(), ElementsAre(1, 2, 3));
}

TEST_F(GuardedRunTest, FindsElementsThatNobodyWrites) {
  EXPECT_THAT(faults_of([](eph_run& run) { floats(*run.outputs[0])[0] = 1; }), IsEmpty());
  ASSERT_THAT(untouched, SizeIs(1));
  EXPECT_EQ(untouched[0].output, 0U);
  EXPECT_EQ(untouched[0].element, 1U);
}

TEST_F(GuardedRunTest, LetsAnOutputTakeTheMemoryOfAnInput) {
  test::FakeRun run({&input}, {&input}, 0);
  GuardedRun guarded(&run, {}, Guard::kZones, std::byte{0xA5});
  ASSERT_EQ(guarded.inputs[0]->data, guarded.outputs[0]->data);
  compute_well(guarded);
  EXPECT_THAT(guarded.faults(true), IsEmpty());
  EXPECT_THAT(guarded.untouched(), IsEmpty());
  guarded.finish();
  EXPECT_THAT(input.values(), ElementsAre(2, 4, 6));
}

TEST_F(GuardedRunTest, GuardsOutputsThatAreAllocatedMeanwhile) {
  test::FakeRun run({{{3}, {1, 2, 3}}});
  GuardedRun guarded(&run, {}, Guard::kZones, std::byte{0xA5});
  test::FakeError error;
  const int64_t shape[] = {3};
  ASSERT_EQ(guarded.api->allocate_output(&guarded, 0, EPH_ELEMENT_FLOAT, shape, 1, &error), EPH_OK);
  compute_well(guarded);
  floats(*guarded.outputs[0])[3] = 1;
  const auto faults = guarded.faults(true);
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_THAT(faults[0].what, HasSubstr("behind output 0"));
  guarded.finish();
  EXPECT_THAT(run.result(), ElementsAre(2, 4, 6));
}

TEST_F(GuardedRunTest, FindsOutputsWithoutMemory) {
  test::FakeRun run({{{3}, {1, 2, 3}}});
  const GuardedRun guarded(&run, {}, Guard::kZones, std::byte{0xA5});
  const auto faults = guarded.faults(true);
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_THAT(faults[0].what, HasSubstr("gave output 0 no memory"));
  EXPECT_THAT(guarded.faults(false), IsEmpty());
}

TEST(GuardedMemoryDeathTest, HasAPageWithoutAccessBehindIt) {
  const GuardedMemory memory(4096, 64, Guard::kPages, std::byte{0});
  auto* const data = const_cast<volatile std::byte*>(memory.data());
  EXPECT_DEATH(data[4096] = std::byte{1}, "");
}

}  // namespace
}  // namespace ephost::layers
