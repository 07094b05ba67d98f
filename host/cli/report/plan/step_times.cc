#include "host/cli/report/plan/step_times.h"

#include <charconv>
#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/measure/statistics.h"
#include "host/cli/report/json.h"

namespace ephost::cli {
namespace {

// The index in an event of a step, or one beyond all steps.
size_t stated_step(const Json& event, size_t count) {
  const std::string text = event.member("args").member("step").string();
  size_t index = count;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() ? index : count;
}

// Whether an event with the number of the step is one of it. That of a partition is named after its
// first node.
bool is_of(const Json& event, const GraphPlan& plan, const PlannedStep& step) {
  const Json arguments = event.member("args");
  if (arguments.member("provider").string() != plan.providers[step.provider]) return false;
  const std::string type = arguments.member("op_type").string();
  if (!step.partition.empty()) return type == "partition";
  const bool has_name = step.name.empty() || event.member("name").string() == step.name;
  return has_name && (step.op == type || step.op.ends_with("." + type));
}

}  // namespace

Result<std::vector<double>> step_times(std::string_view profile, std::string_view name,
                                       const GraphPlan& plan) {
  constexpr double kMicroseconds = 1e-6;
  const Json document = Json::parse(profile);
  if (document.member("traceEvents").is_null()) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("{} is not a profile; \"ephost run --profile FILE\" writes one", quote(name)));
  }
  std::vector<std::vector<double>> seconds(plan.steps.size());
  for (const Json& event : document.member("traceEvents").elements()) {
    if (event.member("cat").string() != "step") continue;
    // Steps of the bodies of loops and branches have numbers of their own.
    const size_t step = stated_step(event, plan.steps.size());
    if (step == plan.steps.size() || !is_of(event, plan, plan.steps[step])) continue;
    seconds[step].push_back(event.member("dur").number() * kMicroseconds);
  }
  std::vector<double> times;
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i].empty()) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted("the profile {} has no step {}, {}, of this plan; make it with \"ephost "
                    "run --profile\", of the same model and with the same options",
                    quote(name), i, plan.steps[i].description));
    }
    times.push_back(median(seconds[i]));
  }
  return times;
}

}  // namespace ephost::cli
