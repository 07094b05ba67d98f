// What the layer "validate" finds in one call of `compute`: a function that stands for a plugin
// gets guarded arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "host/layers/validate/runs/guarded_run.h"
#include "host/plugin/calls/call_scope.h"
#include "host/plugin/calls/crash_handler.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_run.h"

namespace ephost::layers::validate_run_test {
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
  std::vector<std::string> findings_of(const Compute& compute) {
    test::FakeRun run({&input}, {&output}, kWorkspace);
    const GuardedRun::Declared declared = {.workspace_bytes = kWorkspace};
    GuardedRun guarded(&run, declared, {});
    compute(guarded);
    std::vector<std::string> found;
    for (const Finding& finding : guarded.findings(true)) found.push_back(finding.what);
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
  EXPECT_THAT(findings_of(&compute_well), IsEmpty());
  EXPECT_THAT(untouched, IsEmpty());
  EXPECT_THAT(output.values(), ElementsAre(2, 4, 6));
}

TEST_F(GuardedRunTest, FindsWritesBehindAnOutput) {
  const auto found = findings_of([](eph_run& run) {
    compute_well(run);
    floats(*run.outputs[0])[3] = 1;
  });
  EXPECT_THAT(found, ElementsAre(HasSubstr("behind output 0, which has 12 bytes")));
}

TEST_F(GuardedRunTest, FindsWritesBeforeAnOutput) {
  const auto found = findings_of([](eph_run& run) {
    compute_well(run);
    floats(*run.outputs[0])[-2] = 1;
  });
  EXPECT_THAT(found, ElementsAre(HasSubstr("before output 0")));
}

TEST_F(GuardedRunTest, FindsWritesBehindTheWorkspace) {
  const auto found = findings_of([](eph_run& run) {
    compute_well(run);
    static_cast<char*>(run.workspace)[kWorkspace] = 1;
  });
  EXPECT_THAT(found, ElementsAre(HasSubstr("wrote up to 1 byte behind the workspace")));
}

TEST_F(GuardedRunTest, FindsWritesBehindScratchMemory) {
  const auto found = findings_of([](eph_run& run) {
    compute_well(run);
    auto* const scratch = static_cast<char*>(run.api->allocate_scratch(&run, 100));
    std::memset(scratch, 0, 101);
  });
  EXPECT_THAT(found, ElementsAre(HasSubstr("behind scratch memory")));
}

TEST_F(GuardedRunTest, FindsInputsThatChange) {
  const auto found = findings_of([](eph_run& run) {
    compute_well(run);
    floats(*run.inputs[0])[1] = 7;
  });
  EXPECT_THAT(found, ElementsAre("changed input 0"));
  EXPECT_THAT(input.values(), ElementsAre(1, 2, 3));
}

TEST_F(GuardedRunTest, FindsElementsThatNobodyWrites) {
  EXPECT_THAT(findings_of([](eph_run& run) { floats(*run.outputs[0])[0] = 1; }), IsEmpty());
  ASSERT_THAT(untouched, SizeIs(1));
  EXPECT_EQ(untouched[0].output, 0U);
  EXPECT_EQ(untouched[0].element, 1U);
}

TEST_F(GuardedRunTest, LetsAnOutputTakeTheMemoryOfAnInput) {
  test::FakeRun run({&input}, {&input}, 0);
  const GuardedRun::Declared declared;
  GuardedRun guarded(&run, declared, {});
  ASSERT_EQ(guarded.inputs[0]->data, guarded.outputs[0]->data);
  compute_well(guarded);
  EXPECT_THAT(guarded.findings(true), IsEmpty());
  EXPECT_THAT(guarded.untouched(), IsEmpty());
  guarded.finish();
  EXPECT_THAT(input.values(), ElementsAre(2, 4, 6));
}

TEST_F(GuardedRunTest, GuardsOutputsThatAreAllocatedMeanwhile) {
  test::FakeRun run({{{3}, {1, 2, 3}}});
  const GuardedRun::Declared declared;
  GuardedRun guarded(&run, declared, {});
  test::FakeError error;
  const int64_t shape[] = {3};
  ASSERT_EQ(guarded.api->allocate_output(&guarded, 0, EPH_ELEMENT_FLOAT, shape, 1, &error), EPH_OK);
  compute_well(guarded);
  floats(*guarded.outputs[0])[3] = 1;
  const auto findings = guarded.findings(true);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].what, HasSubstr("behind output 0"));
  guarded.finish();
  EXPECT_THAT(run.result(), ElementsAre(2, 4, 6));
}

TEST_F(GuardedRunTest, FindsOutputsWithoutMemory) {
  test::FakeRun run({{{3}, {1, 2, 3}}});
  const GuardedRun::Declared declared;
  const GuardedRun guarded(&run, declared, {});
  const auto findings = guarded.findings(true);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].what, HasSubstr("gave output 0 no memory"));
  EXPECT_THAT(guarded.findings(false), IsEmpty());
}

TEST_F(GuardedRunTest, GuardsOutputsOfWhichNothingIsKnownBefore) {
  test::FakeRun run({{{3}, {1, 2, 3}}});
  *run.outputs[0] = {};
  const GuardedRun::Declared declared;
  GuardedRun guarded(&run, declared, {});
  test::FakeError error;
  const int64_t shape[] = {3};
  ASSERT_EQ(guarded.api->allocate_output(&guarded, 0, EPH_ELEMENT_FLOAT, shape, 1, &error), EPH_OK);
  EXPECT_NE(guarded.outputs[0]->data, run.outputs[0]->data);
  compute_well(guarded);
  EXPECT_THAT(guarded.findings(true), IsEmpty());
  EXPECT_TRUE(guarded.can_be_repeated());
  guarded.finish();
  EXPECT_THAT(run.result(), ElementsAre(2, 4, 6));
}

TEST_F(GuardedRunTest, TakesOutputsThatWereSetInPlaceOfWritten) {
  test::FakeRun run({{{3}, {1, 2, 3}}});
  const GuardedRun::Declared declared;
  GuardedRun guarded(&run, declared, {});
  run.outputs[0]->data = output.value.data;  // as set_output does
  EXPECT_THAT(guarded.findings(true), IsEmpty());
}

TEST_F(GuardedRunTest, FindsChangesOfAnInputBesideTheOutputThatIsPartOfIt) {
  test::FloatTensor whole{{4}, {1, 2, 3, 4}};
  test::FakeRun run({&whole}, {&output}, 0);
  eph_value& part = *run.outputs[0];
  part.data = floats(whole.value) + 1;
  GuardedRun::Declared declared;
  declared.sharing.output_parts = {{0, 0, sizeof(float)}};
  const auto findings_after = [&](const Compute& compute) {
    GuardedRun guarded(&run, declared, {});
    compute(guarded);
    return guarded.findings(true);
  };
  EXPECT_THAT(findings_after([](eph_run&) {}), IsEmpty());
  EXPECT_THAT(findings_after([](eph_run& guarded) { floats(*guarded.outputs[0])[0] = 9; }),
              SizeIs(1));
  declared.sharing = {};
  declared.sharing.may_inplace = {{0, 0}};
  EXPECT_THAT(findings_after([](eph_run& guarded) { floats(*guarded.outputs[0])[0] = 9; }),
              IsEmpty());
  EXPECT_THAT(findings_after([](eph_run& guarded) { floats(*guarded.outputs[0])[-1] = 9; }),
              SizeIs(1));
}

TEST_F(GuardedRunTest, FindsWritesAfterItsTime) {
  test::FakeRun run({&input}, {&output}, 0);
  const GuardedRun::Declared declared;
  GuardedRun guarded(&run, declared, {});
  compute_well(guarded);
  float* const late = floats(*guarded.outputs[0]);
  guarded.finish();
  guarded.retire();
  EXPECT_THAT(guarded.late_writes(), IsEmpty());
  late[1] = 1;
  EXPECT_THAT(guarded.late_writes(), ElementsAre("output 0"));
}

TEST(GuardedMemoryDeathTest, HasAPageWithoutAccessBehindIt) {
  const GuardedMemory memory(4096, 64, Guard::kPages, std::byte{0});
  auto* const data = const_cast<volatile std::byte*>(memory.data());
  EXPECT_DEATH(data[4096] = std::byte{1}, "");
}

TEST(GuardedMemoryDeathTest, LiesBehindAPageWithoutAccessOnDemand) {
  const GuardedMemory memory(100, 64, Guard::kPages, std::byte{0}, "output 0 of compute",
                             GuardedMemory::Side::kBefore);
  auto* const data = const_cast<volatile std::byte*>(memory.data());
  EXPECT_DEATH(
      {
        const plugin::CrashHandler handler;
        const plugin::CallScope scope({"TestProvider", "compute"});
        data[-1] = std::byte{1};
      },
      "which is before output 0 of compute \\(rule 25\\)");
}

TEST(GuardedMemory, EndsWithTheLastByteWhateverItsSize) {
  for (const auto side : {GuardedMemory::Side::kBehind, GuardedMemory::Side::kBefore}) {
    const GuardedMemory memory(101, 64, Guard::kPages, std::byte{0}, "", side);
    memory.data()[101] = std::byte{1};
    EXPECT_EQ(memory.damage().behind, 1U);
    EXPECT_EQ(memory.damage().before, 0U);
  }
}

TEST(GuardedMemoryDeathTest, IsNamedInTheReportOfACrash) {
  const GuardedMemory memory(4096, 64, Guard::kPages, std::byte{0}, "output 0 of compute");
  auto* const data = const_cast<volatile std::byte*>(memory.data());
  EXPECT_DEATH(
      {
        const plugin::CrashHandler handler;
        const plugin::CallScope scope({"TestProvider", "compute", "Conv", "conv1"});
        data[4096] = std::byte{1};
      },
      "which is behind output 0 of compute \\(rule 25\\), in compute of TestProvider for Conv");
}

TEST(GuardedMemoryDeathTest, IsOutOfReachAfterItsTime) {
  GuardedMemory memory(100, 64, Guard::kPages, std::byte{0}, "output 0 of compute");
  auto* const data = const_cast<volatile std::byte*>(memory.data());
  memory.retire("output 0 of compute, which had returned (rule 20)");
  EXPECT_DEATH(
      {
        const plugin::CrashHandler handler;
        const plugin::CallScope scope({"TestProvider", "compute"});
        data[0] = std::byte{1};
      },
      "which is output 0 of compute, which had returned");
}

TEST(GuardedMemoryDeathTest, IsNamedWhereNoPluginIsCalled) {
  GuardedMemory memory(100, 64, Guard::kPages, std::byte{0}, "output 0 of compute");
  auto* const data = const_cast<volatile std::byte*>(memory.data());
  memory.retire("output 0 of compute of TestProvider, which had returned (rule 20)");
  EXPECT_DEATH(
      {
        const plugin::CrashHandler handler;
        data[0] = std::byte{1};
      },
      "which is output 0 of compute of TestProvider, which had returned \\(rule 20\\), while no "
      "plugin is called");
}

}  // namespace
}  // namespace ephost::layers::validate_run_test
