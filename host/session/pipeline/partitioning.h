// Partitioning of a prepared model: of its own graph and of the bodies that the host runs itself.
#pragma once

#include <ephost/status.h>

#include <string>
#include <vector>

#include "host/session/pipeline/prepared_model.h"
#include "host/session/session_config.h"

namespace ephost::session {

// Asks the providers, and the host as the last, about each graph, barring them from what they have
// failed to compile (PreparedModel::failures). Nodes may be left without owner. Names of partitions
// are unique in the model and differ from `taken_names`. May be called again.
[[nodiscard]] Status partition_model(PreparedModel& prepared, const std::string& name_prefix,
                                     std::vector<std::string> taken_names);

// NOT_IMPLEMENTED where a node has no owner (or what its first owner failed with);
// MODEL_REQUIRES_COMPILATION and FAIL for what the configuration forbids.
[[nodiscard]] Status check_partitioning(const PreparedModel& prepared, const SessionConfig& config);

// Warns that nodes went to the next providers.
void report_fallback(const PreparedModel& prepared, const CompileFailure& failure);

}  // namespace ephost::session
