// A model with open extents as commands show it: as a session would specialise it for the first of
// its profiles (session.shapes.profiles).
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <vector>

#include "host/session/creation/pipeline.h"

namespace ephost::session {

struct ShapedModel {
  PreparedModel prepared;
  // The effects of the wishes of providers and of the profiles, one sentence each.
  std::vector<std::string> notes;
};

// Prepares the model; and once more with the best extents of the first profile fixed, if there is
// one and a provider wishes for that.
[[nodiscard]] Result<ShapedModel> prepare_best_shape(EnvironmentState& environment,
                                                     const std::filesystem::path& model,
                                                     const GivenOptions& options, Stage until);

}  // namespace ephost::session
