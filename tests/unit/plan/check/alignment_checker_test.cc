// The checker of alignments detects what is not where a step wants it.
#include "tests/support/status_matchers.h"
#include "tests/unit/plan/check/checker_example.h"

namespace ephost::plan::alignment_checker_test {
namespace {

using test::IsOk;
using testing::example;
using testing::expect_refused;
using testing::Planned;

constexpr uint64_t kPage = 4096;

// The example; the step that makes `f` from `e`, with a workspace, wants pages.
Planned paged_example() {
  Planned planned = example();
  planned.notes[5].host_alignment = kPage;
  return planned;
}

Status status_of(const Planned& planned, const MemoryPattern& pattern) {
  const auto traits = testing::to_traits(planned.notes);
  return check_alignment(planned.graph, planned.execution, traits, planned.allocation, pattern);
}

MemoryPattern pattern_of(const Planned& planned) {
  return *plan_memory(planned.allocation, {}, {.alignments = {kPage}});
}

TEST(CheckAlignment, AcceptsABlockOfThatAlignment) {
  const Planned planned = paged_example();
  const Status status = status_of(planned, pattern_of(planned));
  EXPECT_THAT(status, IsOk());
}

TEST(CheckAlignment, AcceptsAnyBlockWhereNobodyWantsMore) {
  const Planned planned = example();
  EXPECT_THAT(status_of(planned, *plan_memory(planned.allocation)), IsOk());
}

TEST(CheckAlignment, RefusesABlockThatIsAlignedToLess) {
  const Planned planned = paged_example();
  expect_refused(status_of(planned, *plan_memory(planned.allocation)),
                 "is not aligned to 4096 bytes for step 5");
}

TEST(CheckAlignment, RefusesAValueAndAWorkspaceAtAnotherOffset) {
  const Planned planned = paged_example();
  MemoryPattern pattern = pattern_of(planned);
  pattern.offsets[planned.id("e")] += 64;
  expect_refused(status_of(planned, pattern), "value \"e\" is not aligned to 4096 bytes");
  pattern = pattern_of(planned);
  pattern.workspace_offsets[5] += 64;
  expect_refused(status_of(planned, pattern), "the workspace is not aligned to 4096 bytes");
}

}  // namespace
}  // namespace ephost::plan::alignment_checker_test
