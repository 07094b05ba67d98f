// The division of a model among providers as a session would make it, with a report which provider
// takes which node and why another one does not.
#pragma once

#include <ephost/status.h>
#include <ephost/types/partitioning.h>

#include <filesystem>

#include "host/session/config/session_options.h"
#include "host/session/environment/environment.h"

namespace ephost {

// Errors are those of creating a session, except that nodes may be left without a provider. May be
// called from any thread.
[[nodiscard]] Result<ModelPartitioning> partition_model(
    const Environment& environment, const std::filesystem::path& model,
    const SessionOptions& options = {}, PartitionStage stage = PartitionStage::kClaims);

}  // namespace ephost
