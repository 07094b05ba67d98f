// The checks of runs, by what they vary; runs.cc lists them.
#pragma once

#include "host/conformance/kit/check.h"

namespace ephost::conformance {

// Results.
void check_backend_tests(const Subject& subject, Report& report);
void check_guarded_backend_tests(const Subject& subject, Report& report);
void check_random_graphs(const Subject& subject, Report& report);
void check_guarded_random_graphs(const Subject& subject, Report& report);
void check_inner_values(const Subject& subject, Report& report);
void check_repeated_runs(const Subject& subject, Report& report);

// Inputs and outputs.
void check_changing_shapes(const Subject& subject, Report& report);
void check_fixed_extents(const Subject& subject, Report& report);
void check_empty_and_large_tensors(const Subject& subject, Report& report);
void check_special_numbers(const Subject& subject, Report& report);
void check_least_alignment(const Subject& subject, Report& report);
void check_bound_outputs(const Subject& subject, Report& report);

// Failures, and numbers that are not finite.
void check_failed_runs(const Subject& subject, Report& report);
void check_special_results(const Subject& subject, Report& report);
void check_subnormal_numbers(const Subject& subject, Report& report);

// What runs are told.
void check_run_options(const Subject& subject, Report& report);
void check_dynamic_options(const Subject& subject, Report& report);
void check_cancellation(const Subject& subject, Report& report);

void check_values_on_devices(const Subject& subject, Report& report);
void check_captured_runs(const Subject& subject, Report& report);

}  // namespace ephost::conformance
