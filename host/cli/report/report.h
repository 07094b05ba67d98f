// Parts of reports that several commands print, as text and as JSON.
#pragma once

#include <ephost/environment.h>
#include <ephost/session.h>
#include <ephost/status.h>
#include <ephost/types/model_metadata.h>

#include <span>
#include <string>
#include <vector>

#include "host/cli/report/json.h"
#include "host/cli/report/output.h"

namespace ephost::cli {

// {"code": "FAIL", "message": "..."}.
[[nodiscard]] Json status_json(const Status& status);

// [{"name": "import", "seconds": 0.1}, ...], and "import 100 ms, compile 1.20 s".
[[nodiscard]] Json phases_json(std::span<const Phase> phases);
[[nodiscard]] std::string phases_text(std::span<const Phase> phases);

// Named as the members; and `graph "g", producer "p", version 2`, without what is not stated.
[[nodiscard]] Json metadata_json(const ModelMetadata& metadata);
[[nodiscard]] std::string metadata_text(const ModelMetadata& metadata);

// {"outcome": "hit", "key": "...", "reason": null}; null for a session without a store.
[[nodiscard]] Json cache_json(const CacheUse& use);
// "hit 0123...", "uncached (the reason)"; empty for a session without a store.
[[nodiscard]] std::string cache_text(const CacheUse& use);

// What to do so that a provider that was asked for takes a model with open shapes.
[[nodiscard]] std::string open_shapes_note(std::string_view provider);

// "1.0-1.3": major and minor versions of the ABI.
[[nodiscard]] std::string abi_text(const AbiVersions& abi);
[[nodiscard]] Json abi_json(const AbiVersions& abi);

// "cpu, gpu (vendor id)".
[[nodiscard]] std::string devices_text(std::span<const DeviceKind> devices);
[[nodiscard]] Json devices_json(std::span<const DeviceKind> devices);

}  // namespace ephost::cli
