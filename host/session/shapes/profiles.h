// The profiles of a session (profile_text.h) as ranges of the dimensions of a model's inputs, in
// the form that providers are told (ephost.shapes/1).
#pragma once

#include <ephost/status.h>

#include <span>
#include <vector>

#include "host/bridge/extensions/shape_extension.h"
#include "host/graph/graph.h"
#include "host/session/config/profile_text.h"

namespace ephost::session {

// Finds what the profiles name: dimensions of inputs by their name, or by a place such as "x[0]",
// and elements of inputs that are scalars or lists of integers by theirs, such as "sizes{0}". One
// range for each. INVALID_ARGUMENT for a name that no open dimension and no element of an input
// has, and if a dimension is named in both ways.
[[nodiscard]] Result<std::vector<bridge::ShapeProfile>> resolve_profiles(
    const graph::Model& model, std::span<const NamedProfile> profiles);

// The ranges of dimensions that are open in `model`, and of its elements; nothing if no dimension
// is open.
[[nodiscard]] std::vector<bridge::ShapeProfile> keep_open(
    const graph::Model& model, std::span<const bridge::ShapeProfile> profiles);

}  // namespace ephost::session
