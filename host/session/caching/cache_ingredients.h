// The ingredients of the key of a session's cache entry: the model as it was read, the providers as
// they were created, and the options that affect compilation.
#pragma once

#include <ephost/status.h>

#include <string>

#include "host/context/store/cache_key.h"
#include "host/onnx_io/import/import.h"
#include "host/session/config/session_config.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// Computes the checksums of the model and of its external data from the very bytes that are
// compiled. Fails if a provider cannot report its compatibility, or if its library cannot be read.
[[nodiscard]] Result<context::CacheIngredients> collect_cache_ingredients(
    const PreparedModel& prepared, const onnx_io::ImportReport& read, const SessionConfig& config,
    std::string host_version);

}  // namespace ephost::session
