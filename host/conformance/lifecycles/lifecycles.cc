#include <array>

#include "host/conformance/kit/checks.h"
#include "host/conformance/lifecycles/lifecycle_checks.h"

namespace ephost::conformance {
namespace {

using std::chrono::seconds;

constexpr std::array kLifecycleChecks = {
    Check{20, 1, "storm-of-sessions", "Sessions that come, run and go leave nothing behind",
          Level::kBasic, seconds(300), &check_storm},
    Check{20, 2, "storm-without-runs", "Sessions that never run leave nothing behind",
          Level::kBasic, seconds(300), &check_storm_without_runs},
    Check{20, 3, "storm-of-failures", "Sessions that cannot be created leave nothing behind",
          Level::kBasic, seconds(300), &check_storm_of_failures},
    Check{20, 4, "storm-of-runs", "Runs leave nothing behind", Level::kBasic, seconds(300),
          &check_storm_of_runs},
    Check{20, 5, "storm-of-loading",
          "A plugin that is loaded for each session leaves nothing behind", Level::kBasic,
          seconds(300), &check_storm_of_loading},
    Check{20, 6, "storm-of-contexts", "Contexts that are restored, run and go leave nothing behind",
          Level::kBasic, seconds(300), &check_storm_of_contexts},
    Check{20, 7, "storm-of-threads", "Threads that run a session and end leave nothing behind",
          Level::kBasic, seconds(300), &check_storm_of_threads},
    Check{20, 8, "storm-of-failing-runs", "Runs that fail or are cancelled leave nothing behind",
          Level::kBasic, seconds(300), &check_storm_of_failing_runs},
    Check{22, 2, "threads-of-handles",
          "A session may be created, run and destroyed by different threads", Level::kBasic,
          seconds(120), &check_threads_of_handles},
    Check{22, 3, "destruction-beside-runs", "Sessions come and go while others run", Level::kBasic,
          seconds(120), &check_destruction_beside_runs},
    Check{22, 4, "other-options", "Providers with other options change nothing in one another",
          Level::kBasic, seconds(300), &check_other_options},
    Check{36, 1, "sizes-of-the-pool", "Any number of threads gives the same results", Level::kBasic,
          seconds(120), &check_pool_sizes},
    Check{39, 3, "process-unchanged-by-sessions",
          "Sessions and runs leave the settings of the process alone", Level::kBasic, seconds(60),
          &check_settings},
    Check{39, 4, "home-unchanged", "Sessions and runs write nothing into the home of the user",
          Level::kBasic, seconds(60), &check_home},
    Check{50, 1, "concurrent-runs", "Runs of one session at once give the results of single ones",
          Level::kBasic, seconds(300), &check_concurrent_runs},
    Check{50, 2, "concurrent-sessions", "Sessions at once give the results of single ones",
          Level::kBasic, seconds(300), &check_concurrent_sessions},
};

}  // namespace

std::span<const Check> lifecycle_checks() { return kLifecycleChecks; }

}  // namespace ephost::conformance
