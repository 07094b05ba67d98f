// partition_model: divides a model among providers as a session would, and reports which provider
// takes which node and why another one does not.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/records/model_report.h>
#include <ephost/environment.h>
#include <ephost/session_options.h>
#include <ephost/status.h>
#include <ephost/types/partitioning.h>

#include <string>

namespace ephost {
inline namespace v1 {

// Errors are those of creating a session, except that nodes may be left without a provider. May be
// called from any thread.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<ModelPartitioning> partition_model(
    const Environment& environment, const std::string& model, const SessionOptions& options = {},
    PartitionStage stage = PartitionStage::kClaims) {
  return detail::take_report<ModelPartitioning>([&](const ephost_model_partitioning** report) {
    return detail::api().model->partition(environment.handle(), model.c_str(), options.handle(),
                                          static_cast<int32_t>(stage), report);
  });
}

}  // namespace v1
}  // namespace ephost
