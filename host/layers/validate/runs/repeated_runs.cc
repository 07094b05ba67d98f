#include "host/layers/validate/runs/repeated_runs.h"

#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/layers/validate/runs/result_comparison.h"

namespace ephost::layers {
namespace {

constexpr std::byte kOtherFill{0x5A};

std::string where(uint32_t output, uint64_t element) {
  return formatted("output {} from element {} on", output, element);
}

}  // namespace

RepeatedRuns::RepeatedRuns(eph_run* inner, const GuardedRun& first,
                           const GuardedRun::Declared& declared, GuardedRun::Memory memory,
                           std::vector<bool> is_open, Compute compute)
    : inner_(inner),
      first_(first),
      declared_(declared),
      memory_(std::move(memory)),
      is_open_(std::move(is_open)),
      compute_(std::move(compute)) {}

RepeatedRuns::Outcome RepeatedRuns::repeat(Arrangement arrangement, std::byte fill,
                                           std::vector<bool> is_hidden) const {
  GuardedRun::Memory memory = memory_;
  memory.fill = fill;
  Outcome outcome;
  outcome.run = std::make_shared<GuardedRun>(
      inner_, declared_, std::move(memory),
      GuardedRun::Repetition{std::move(arrangement), std::move(is_hidden)});
  outcome.code = compute_(outcome.run);
  outcome.findings = outcome.run->findings(outcome.code == EPH_OK);
  return outcome;
}

std::optional<RepeatedRuns::Difference> RepeatedRuns::difference(const Outcome& outcome) const {
  if (outcome.code != EPH_OK) return Difference{.has_failed = true};
  for (uint32_t i = 0; i < inner_->output_count; ++i) {
    const std::span<const std::byte> expected = first_.result(i);
    if (expected.empty()) continue;
    const auto element =
        first_difference(outcome.run->result(i), expected, inner_->outputs[i]->element_type);
    if (element) return Difference{i, *element, false};
  }
  return std::nullopt;
}

bool RepeatedRuns::is_repeatable() const {
  return !difference(repeat(first_.arrangement(), memory_.fill, {}));
}

void RepeatedRuns::add_untouched(const GuardedRun& again, std::vector<Finding>& found) const {
  const std::vector<GuardedRun::Untouched> first = first_.untouched();
  for (const GuardedRun::Untouched& one : again.untouched()) {
    if (std::ranges::find(first, one) == first.end()) continue;
    found.push_back({25, "succeeded and left " + where(one.output, one.element) + " unwritten",
                     "write every element of each output, or fail"});
  }
}

std::vector<Finding> RepeatedRuns::untouched_findings() {
  std::vector<Finding> found;
  if (first_.untouched().empty()) return found;
  const Outcome again = repeat(first_.arrangement(), kOtherFill, {});
  if (again.code == EPH_OK) add_untouched(*again.run, found);
  return found;
}

// `is_shared`: in the repetition, more memory was shared than in the first run.
void RepeatedRuns::add_difference(const Difference& difference, bool is_shared,
                                  std::vector<Finding>& found) const {
  const bool is_about_sharing =
      is_shared || !this->difference(repeat(first_.arrangement(), kOtherFill, {}));
  const std::string what = difference.has_failed ? std::string("fails")
                                                 : "gives another result in " +
                                                       where(difference.output, difference.element);
  if (is_shared) {
    found.push_back({25, what + " where inputs and outputs share memory as it allows",
                     "state in may_inplace, aliases and parts of `describe` only what holds"});
  } else if (is_about_sharing && shares_memory(first_.arrangement())) {
    found.push_back({25, what + " where outputs have memory of their own",
                     "copy the bytes of aliases and parts unless the pointers already agree"});
  } else if (is_about_sharing) {
    found.push_back({25, what + " where the host has prepared outputs, or has not",
                     "call allocate_output where `data` is null, and write to what it has"});
  } else {
    found.push_back({25,
                     what + " where workspace, scratch memory and outputs contained other bytes",
                     "write memory before it is read: the host does not clear it"});
  }
}

std::vector<Finding> RepeatedRuns::all_findings() {
  std::vector<bool> is_hidden(inner_->output_count);
  for (uint32_t i = 0; i < inner_->output_count && i < is_open_.size(); ++i) {
    const bool is_shared =
        std::ranges::count(declared_.sharing.must_share, i, &eph_slot_pair::output) != 0;
    is_hidden[i] = is_open_[i] && first_.was_prepared(i) && !is_shared;
  }
  const Arrangement separate = as_separate(*inner_, declared_.sharing);
  Outcome apart = repeat(separate, kOtherFill, std::move(is_hidden));
  std::vector<Finding> found = std::move(apart.findings);
  if (!found.empty()) return found;
  if (apart.code == EPH_OK) add_untouched(*apart.run, found);
  if (!found.empty()) return found;
  if (const auto differing = difference(apart)) {
    if (is_repeatable()) add_difference(*differing, false, found);
    return found;
  }
  const auto alignment = static_cast<size_t>(declared_.alignment);
  const Arrangement shared = as_shared(*inner_, declared_.sharing, alignment);
  if (!shares_memory(shared)) return found;
  const Outcome together = repeat(shared, kOtherFill, {});
  if (!together.findings.empty()) return together.findings;
  const auto differing = difference(together);
  if (differing && is_repeatable()) add_difference(*differing, true, found);
  return found;
}

}  // namespace ephost::layers
