// The checks of lifecycles, by what they do at once or again and again; lifecycles.cc lists them.
#pragma once

#include "host/conformance/kit/check.h"

namespace ephost::conformance {

// Again and again.
void check_storm(const Subject& subject, Report& report);
void check_storm_without_runs(const Subject& subject, Report& report);
void check_storm_of_failures(const Subject& subject, Report& report);
void check_storm_of_loading(const Subject& subject, Report& report);
void check_storm_of_runs(const Subject& subject, Report& report);
void check_storm_of_failing_runs(const Subject& subject, Report& report);
void check_storm_of_contexts(const Subject& subject, Report& report);
void check_storm_of_threads(const Subject& subject, Report& report);

// What they leave alone.
void check_other_options(const Subject& subject, Report& report);

void check_settings(const Subject& subject, Report& report);
void check_home(const Subject& subject, Report& report);

// At once.
void check_concurrent_runs(const Subject& subject, Report& report);
void check_concurrent_sessions(const Subject& subject, Report& report);
void check_destruction_beside_runs(const Subject& subject, Report& report);
void check_threads_of_handles(const Subject& subject, Report& report);
void check_pool_sizes(const Subject& subject, Report& report);

}  // namespace ephost::conformance
