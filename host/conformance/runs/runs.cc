#include <array>

#include "host/conformance/kit/checks.h"
#include "host/conformance/runs/run_checks.h"

namespace ephost::conformance {
namespace {

using std::chrono::seconds;

constexpr std::array kRunChecks = {
    Check{25, 1, "backend-tests", "ONNX's backend tests give the expected results", Level::kBasic,
          seconds(600), &check_backend_tests},
    Check{25, 2, "guarded-backend-tests",
          "Computations of ONNX's backend tests keep to their memory and write all of it",
          Level::kBasic, seconds(1200), &check_guarded_backend_tests},
    Check{25, 3, "random-graphs", "Random graphs give the results that their operators define",
          Level::kBasic, seconds(600), &check_random_graphs},
    Check{25, 4, "guarded-random-graphs",
          "Computations of random graphs keep to their memory and write all of it", Level::kBasic,
          seconds(1200), &check_guarded_random_graphs},
    Check{25, 5, "repeated-runs", "The same inputs give the same results in every run and session",
          Level::kBasic, seconds(300), &check_repeated_runs},
    Check{25, 6, "changing-shapes", "Runs of open extents may change their shapes at any time",
          Level::kBasic, seconds(300), &check_changing_shapes},
    Check{25, 7, "empty-and-large-tensors", "Extents may be zero or large", Level::kBasic,
          seconds(300), &check_empty_and_large_tensors},
    Check{25, 8, "special-numbers",
          "Numbers that are not finite fail no run and leave nothing behind", Level::kBasic,
          seconds(120), &check_special_numbers},
    Check{25, 9, "bound-outputs",
          "Outputs in memory of the caller are written there and no further", Level::kBasic,
          seconds(120), &check_bound_outputs},
    Check{25, 10, "inner-values",
          "Random graphs give what their operators define where all values are outputs",
          Level::kBasic, seconds(300), &check_inner_values},
    Check{25, 11, "special-results", "Infinities and NaN give what the operators define",
          Level::kBasic, seconds(120), &check_special_results},
    Check{25, 12, "failed-runs", "A run that fails leaves nothing behind", Level::kBasic,
          seconds(120), &check_failed_runs},
    Check{25, 13, "subnormal-numbers", "Subnormal numbers count as themselves or as zero",
          Level::kBasic, seconds(120), &check_subnormal_numbers},
    Check{38, 4, "values-on-devices",
          "Inputs and outputs may lie anywhere in the memory of the device", Level::kBasic,
          seconds(120), &check_values_on_devices},
    Check{51, 1, "cancelled-runs", "A run that is cancelled ends soon, and later ones work",
          Level::kBasic, seconds(120), &check_cancellation},
    Check{52, 1, "run-options", "An option of a run takes every value and holds for one run",
          Level::kBasic, seconds(120), &check_run_options},
    Check{52, 2, "dynamic-options", "A dynamic option takes every value, also during runs",
          Level::kBasic, seconds(120), &check_dynamic_options},
    Check{53, 1, "least-alignment",
          "Inputs of the application may be aligned to their elements only", Level::kBasic,
          seconds(120), &check_least_alignment},
    Check{62, 1, "fixed-extents", "Extents that the model fixes give the results of open ones",
          Level::kBasic, seconds(300), &check_fixed_extents},
    Check{67, 1, "captured-runs", "Runs that are captured give the results of others",
          Level::kBasic, seconds(120), &check_captured_runs},
};

}  // namespace

std::span<const Check> run_checks() { return kRunChecks; }

}  // namespace ephost::conformance
