// plan_model: plans a model as a session would, and reports the plan: the order of the steps, where
// each value lies in memory, and how much memory that takes.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/records/model_report.h>
#include <ephost/environment.h>
#include <ephost/session_options.h>
#include <ephost/status.h>
#include <ephost/types/plan.h>

#include <string>
#include <vector>

namespace ephost {
inline namespace v1 {

// Returns the model's own graph first, then each body before those inside it. Errors are those of
// creating a session. May be called from any thread.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<std::vector<GraphPlan>> plan_model(const Environment& environment,
                                                               const std::string& model,
                                                               const SessionOptions& options = {}) {
  const ephost_model_plan* record = nullptr;
  EPHOST_RETURN_IF_ERROR(detail::take_status(
      detail::api().model->plan(environment.handle(), model.c_str(), options.handle(), &record)));
  const detail::Report<ephost_model_plan> report(record);
  return detail::read_list<GraphPlan>(record->graphs, record->graph_count);
}

}  // namespace v1
}  // namespace ephost
