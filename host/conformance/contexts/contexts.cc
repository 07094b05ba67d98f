#include <array>

#include "host/conformance/contexts/context_checks.h"
#include "host/conformance/kit/checks.h"

namespace ephost::conformance {
namespace {

using std::chrono::seconds;

constexpr std::array kContextChecks = {
    Check{26, 1, "restored-contexts", "A context that is restored gives the results of its model",
          Level::kBasic, seconds(300), &check_restored_contexts},
    Check{26, 2, "written-contexts", "What a provider with context sources compiles can be written",
          Level::kBasic, seconds(300), &check_written_contexts},
    Check{27, 1, "truncated-payloads", "Every truncation of a payload is refused or works",
          Level::kBasic, seconds(1200), &check_truncated_payloads},
    Check{27, 2, "mutated-payloads", "Every damaged payload is refused or works", Level::kBasic,
          seconds(1200), &check_mutated_payloads},
    Check{27, 3, "foreign-payloads", "Payloads of other models are refused or work", Level::kBasic,
          seconds(300), &check_foreign_payloads},
    Check{28, 1, "same-bytes", "A second provider writes the same payloads, if that is promised",
          Level::kBasic, seconds(300), &check_same_bytes},
    Check{28, 2, "same-bytes-in-other-processes",
          "Other processes write the same payloads, if that is promised", Level::kBasic,
          seconds(300), &check_same_bytes_elsewhere},
    Check{28, 3, "contexts-in-other-processes",
          "A context gives the results of its model in another process", Level::kBasic,
          seconds(300), &check_contexts_elsewhere},
    Check{30, 2, "compatibility-texts", "Texts from elsewhere are judged without harm",
          Level::kBasic, seconds(120), &check_compatibility},
    Check{32, 1, "shared-contexts", "Sessions of a group give the results of sessions alone",
          Level::kBasic, seconds(120), &check_shared_groups},
    Check{58, 1, "outside-constants",
          "Contexts with constants outside give the results of their models in another process",
          Level::kBasic, seconds(300), &check_outside_constants},
    Check{58, 2, "damaged-constants", "Contexts with other constants outside are refused or work",
          Level::kBasic, seconds(300), &check_damaged_constants},
};
constexpr std::array kContextParts = {Part{kCompilePart, &compile_here},
                                      Part{kRestorePart, &restore_here}};

}  // namespace

std::span<const Check> context_checks() { return kContextChecks; }
std::span<const Part> context_parts() { return kContextParts; }

}  // namespace ephost::conformance
