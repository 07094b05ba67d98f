// Compiling several models as one session group, whose context models share their binaries: behind
// `ephost compile --share-weights` and `ep_weight_sharing_ctx_gen`.
#pragma once

#include <ephost/environment.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/cli/flags.h"

namespace ephost::cli {

// "key|value key|value", separated by spaces, as ONNX Runtime's tool takes them. INVALID_ARGUMENT
// for a part without key.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> parse_key_values(
    std::string_view text);

// "a.onnx,b.onnx". INVALID_ARGUMENT for an empty name or none.
[[nodiscard]] Result<std::vector<std::filesystem::path>> parse_model_list(std::string_view text);

// Writes the context model of each beside it, all at once after the last is compiled, and reports
// what was written. `options` says which providers and entries; what makes it a group is added.
[[nodiscard]] Status compile_sharing(const Environment& environment, const SessionOptions& options,
                                     const std::vector<std::filesystem::path>& models,
                                     const ReportFlags& report);

}  // namespace ephost::cli
