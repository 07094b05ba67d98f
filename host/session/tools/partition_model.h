// The division of a model among providers (<ephost/partition_model.h>).
#pragma once

#include <ephost/status.h>
#include <ephost/types/partitioning.h>

#include <filesystem>

#include "host/session/config/given_options.h"
#include "host/session/environment/environment.h"

namespace ephost::session {

[[nodiscard]] Result<ModelPartitioning> partition_model(
    EnvironmentState& environment, const std::filesystem::path& model,
    const GivenOptions& options = {}, PartitionStage stage = PartitionStage::kClaims);

}  // namespace ephost::session
