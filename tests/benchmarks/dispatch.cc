#include "tests/benchmarks/dispatch.h"

#include <string>
#include <utility>
#include <vector>

#include "host/cli/measure/statistics.h"
#include "host/cli/values/inputs.h"
#include "tests/benchmarks/sessions.h"

namespace ephost::benchmarks {
namespace {

// Enough runs to warm the caches fully and to make disturbances negligible.
constexpr size_t kWarmUp = 20;
constexpr size_t kRuns = 200;

Result<Sample> time_run(const std::filesystem::path& chain) {
  EPHOST_ASSIGN_OR_RETURN(Session session, Session::create(environment(), chain));
  EPHOST_ASSIGN_OR_RETURN(std::vector<NamedValue> inputs, cli::make_inputs(session, {}));
  EPHOST_ASSIGN_OR_RETURN(IoBinding binding, session.create_binding());
  for (NamedValue& input : inputs) {
    EPHOST_RETURN_IF_ERROR(binding.bind_input(input.name, std::move(input.value)));
  }
  std::vector<double> seconds;
  for (size_t i = 0; i < kWarmUp + kRuns; ++i) {
    const Stopwatch stopwatch;
    EPHOST_RETURN_IF_ERROR(session.run(binding));
    if (i >= kWarmUp) seconds.push_back(stopwatch.seconds());
  }
  return Sample{cli::median(seconds), {}, {}};
}

}  // namespace

void register_dispatch(const std::filesystem::path& chain) {
  register_benchmark(std::string(kDispatch), [chain](benchmark::State& state) {
    measure(state, [&] { return time_run(chain); });
  });
}

}  // namespace ephost::benchmarks
