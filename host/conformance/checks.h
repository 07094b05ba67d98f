// The checks of the kit, by what they try; each list has a folder or a file of its own.
#pragma once

#include <span>
#include <vector>

#include "host/conformance/check.h"

namespace ephost::conformance {

[[nodiscard]] std::span<const Check> loading_checks();  // rules 1 to 10, unloading
[[nodiscard]] std::span<const Check>
interface_checks();  // tables, records, codes, options, hosts of other minors
[[nodiscard]] std::span<const Check> device_checks();  // devices, targets, memory of a device
[[nodiscard]] std::span<const Check>
claim_checks();                                     // capability, graphs, groupings, own operators
[[nodiscard]] std::span<const Check> run_checks();  // results, shapes, run options, cancellation
[[nodiscard]] std::span<const Check>
lifecycle_checks();  // threads, sessions at once, storms, leaks
[[nodiscard]] std::span<const Check>
context_checks();  // payloads: determinism, damage, other processes

// All of them, in the order of their rules and numbers.
[[nodiscard]] std::vector<Check> all_checks();

// The pieces of checks that need processes of their own.
[[nodiscard]] std::vector<Part> all_parts();

}  // namespace ephost::conformance
