// What the key of a session's cache entry is made of: the model as it was read, the providers as
// they were created, and the options that change what is compiled.
#pragma once

#include <ephost/status.h>

#include "host/context/store/cache_key.h"
#include "host/onnx_io/import/import.h"
#include "host/session/pipeline/pipeline.h"
#include "host/session/session_config.h"

namespace ephost::session {

// Checksums the bytes of the model and of its external data where they lie in memory: what is
// compiled is what the checksums cover. Fails where a provider cannot tell its devices or its
// compatibility, or where its library cannot be read.
[[nodiscard]] Result<context::CacheIngredients> collect_cache_ingredients(
    const PreparedModel& prepared, const onnx_io::ImportReport& read, const SessionConfig& config);

}  // namespace ephost::session
