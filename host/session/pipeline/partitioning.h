// Partitions a prepared model: its own graph, and the bodies of nodes that the host runs itself.
#pragma once

#include <ephost/status.h>

#include <string>
#include <vector>

#include "host/session/config/session_config.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// Asks the providers and then the host which nodes of each graph they claim. A provider does not
// get nodes that it has failed to compile (PreparedModel::failures). Nodes may be left without an
// owner. Partition names are unique in the model and differ from `taken_names`. May be called
// again.
[[nodiscard]] Status partition_model(PreparedModel& prepared, const std::string& name_prefix,
                                     std::vector<std::string> taken_names);

// NOT_IMPLEMENTED if a node has no owner, or the failure of its first owner if it had one;
// MODEL_REQUIRES_COMPILATION and FAIL for what the configuration forbids.
[[nodiscard]] Status check_partitioning(const PreparedModel& prepared, const SessionConfig& config);

// Logs a warning that nodes went to the next providers.
void report_fallback(const PreparedModel& prepared, const CompileFailure& failure);

}  // namespace ephost::session
