// The context models that a model with open extents gets for the profiles of a session: one for
// each, beside that of the model as it is, which lists their names and checksums
// (SPECIFICATION.md, "Specialisations"). compile_model writes them, sessions load them.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/base/cancellation.h"
#include "host/base/files/known_checksums.h"
#include "host/context/metadata.h"
#include "host/graph/graph.h"
#include "host/session/model/model_source.h"
#include "host/session/model/prepared_model.h"
#include "host/session/shapes/input_extents.h"

namespace ephost::session {

// The extents that a model is specialised for, for each of its profiles; equal ones once. Nothing
// if there are no profiles, or nothing is to be fixed. INVALID_ARGUMENT if a profile lacks an
// extent that has to be fixed.
[[nodiscard]] Result<std::vector<std::vector<int64_t>>> best_extents(
    std::span<const bridge::ShapeProfile> profiles, const InputExtents& inputs);

// "model_ctx_8x128.onnx" beside the context model "model_ctx.onnx".
[[nodiscard]] std::filesystem::path specialized_model_path(const std::filesystem::path& output,
                                                           std::span<const int64_t> extents);

// Opens a specialised model that a context model in `folder` lists, and compares its checksum.
// INVALID_GRAPH if the name leaves the folder or the checksum is wrong; NO_SUCHFILE if the file is
// missing.
[[nodiscard]] Result<ModelSource> open_specialized_model(const std::filesystem::path& folder,
                                                         const std::string& name,
                                                         const context::ContentChecksum& stated,
                                                         const KnownChecksums& known,
                                                         const Cancellation& cancellation);

// INVALID_GRAPH unless `specialized` has the inputs and outputs of `base`, by name and type, with
// extents that those of `base` admit.
[[nodiscard]] Status check_interface(const graph::Model& base, const graph::Model& specialized);

}  // namespace ephost::session
