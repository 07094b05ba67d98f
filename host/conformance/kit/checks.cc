#include "host/conformance/kit/checks.h"

#include <algorithm>
#include <tuple>

namespace ephost::conformance {
namespace {

// Each group of checks, and the pieces that they run in processes of their own.
constexpr std::span<const Check> (*kCheckLists[])() = {
    &entry_point_checks, &library_checks,   &manifest_checks,  &table_checks,  &call_checks,
    &option_checks,      &extension_checks, &device_checks,    &memory_checks, &stream_checks,
    &claim_checks,       &run_checks,       &lifecycle_checks, &context_checks};
constexpr std::span<const Part> (*kPartLists[])() = {&entry_point_parts, &device_parts,
                                                     &claim_parts, &context_parts};

}  // namespace

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const auto list : kCheckLists) {
    const std::span<const Check> checks = list();
    all.insert(all.end(), checks.begin(), checks.end());
  }
  std::ranges::sort(all, {},
                    [](const Check& check) { return std::tuple(check.rule, check.number); });
  return all;
}

std::vector<Part> all_parts() {
  std::vector<Part> all;
  for (const auto list : kPartLists) {
    const std::span<const Part> parts = list();
    all.insert(all.end(), parts.begin(), parts.end());
  }
  return all;
}

}  // namespace ephost::conformance
