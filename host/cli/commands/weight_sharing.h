// Compilation of several models as one session group, so that their context models share binaries.
// Used by `ephost compile --share-weights` and `ep_weight_sharing_ctx_gen`.
#pragma once

#include <ephost/environment.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/cli/arguments/flags.h"

namespace ephost::cli {

// "key|value key|value", separated by spaces, as ONNX Runtime's tool takes them. INVALID_ARGUMENT
// for a part without a key.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> parse_key_values(
    std::string_view text);

// "a.onnx,b.onnx". INVALID_ARGUMENT for an empty name or none.
[[nodiscard]] Result<std::vector<std::filesystem::path>> parse_model_list(std::string_view text);

// Writes the context model of each model beside it, all of them after the last one is compiled, and
// prints a report. `options` has the providers and configuration entries; those of the session
// group are added.
[[nodiscard]] Status compile_sharing(const Environment& environment, const SessionOptions& options,
                                     const std::vector<std::filesystem::path>& models,
                                     const ReportFlags& report);

}  // namespace ephost::cli
