// The checks of contexts; contexts.cc lists them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/conformance/contexts/compiled.h"
#include "host/conformance/kit/check.h"

namespace ephost::conformance {

// What is written, and whether it comes back.
void check_written_contexts(const Subject& subject, Report& report);
void check_restored_contexts(const Subject& subject, Report& report);
void check_contexts_elsewhere(const Subject& subject, Report& report);
void check_same_bytes(const Subject& subject, Report& report);
void check_same_bytes_elsewhere(const Subject& subject, Report& report);
void check_compatibility(const Subject& subject, Report& report);
void check_shared_groups(const Subject& subject, Report& report);

// Constants outside of payloads.
void check_outside_constants(const Subject& subject, Report& report);
void check_damaged_constants(const Subject& subject, Report& report);

// Damage.
void check_truncated_payloads(const Subject& subject, Report& report);
void check_mutated_payloads(const Subject& subject, Report& report);
void check_foreign_payloads(const Subject& subject, Report& report);

// Restores the contexts in a process of its own, and compares the results with those of the models.
void restore_elsewhere(const Bench& bench, const std::vector<CompiledSample>& samples,
                       Report& report);

// Parts: contexts that are written or restored in a process of their own.
[[nodiscard]] std::string compile_here(const Subject& subject,
                                       std::span<const std::string> arguments);
[[nodiscard]] std::string restore_here(const Subject& subject,
                                       std::span<const std::string> arguments);
inline constexpr std::string_view kCompilePart = "compile-contexts";
inline constexpr std::string_view kRestorePart = "restore-contexts";

}  // namespace ephost::conformance
