// Profiles of shapes as text (session.shapes.profiles): the extents that the user expects of the
// open dimensions of a model's inputs. Knows nothing of a model; profiles.h looks the names up.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::session {

// least <= best <= greatest; an extent is at least 1.
struct NamedRange {
  // The name of a dimension, "batch", or its place in an input, "x[0]"; for an element its place,
  // "x{0}".
  std::string name;
  int64_t least = 1;
  int64_t best = 1;  // what the model is specialised for
  int64_t greatest = 1;
};
using NamedProfile = std::vector<NamedRange>;

// Reads "batch=1:8:32,seq=128;batch=1,seq=1": profiles with `;` between them, each a list of
// LEAST:BEST:GREATEST, or of one number for all three. INVALID_ARGUMENT for anything else, and for
// a name twice in a profile.
[[nodiscard]] Result<std::vector<NamedProfile>> parse_profiles(std::string_view text);

// The same profiles as text, in one spelling: "batch=1:8:32,seq=128:128:128;...".
[[nodiscard]] std::string to_string(std::span<const NamedProfile> profiles);

}  // namespace ephost::session
