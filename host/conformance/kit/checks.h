// The checks of the kit, by what they try; each list has a folder or a file of its own.
#pragma once

#include <span>
#include <vector>

#include "host/conformance/kit/check.h"

namespace ephost::conformance {

[[nodiscard]] std::span<const Check> entry_point_checks();  // rules 2 and 6
[[nodiscard]] std::span<const Check> library_checks();      // rules 1, 3 to 5: the file, unloading
[[nodiscard]] std::span<const Check> manifest_checks();     // rules 8 to 10, what the host refuses
[[nodiscard]] std::span<const Check> table_checks();        // tables, records, arrays
[[nodiscard]] std::span<const Check> call_checks();         // creation, codes, the process
[[nodiscard]] std::span<const Check> option_checks();       // options of the manifest
[[nodiscard]] std::span<const Check> extension_checks();    // optional interfaces, own operators
[[nodiscard]] std::span<const Check> device_checks();       // devices, targets, purposes
[[nodiscard]] std::span<const Check> memory_checks();       // memory of a device
[[nodiscard]] std::span<const Check> stream_checks();       // streams of a device
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
[[nodiscard]] std::span<const Part> entry_point_parts();
[[nodiscard]] std::span<const Part> device_parts();
[[nodiscard]] std::span<const Part> claim_parts();
[[nodiscard]] std::span<const Part> context_parts();
[[nodiscard]] std::vector<Part> all_parts();

}  // namespace ephost::conformance
