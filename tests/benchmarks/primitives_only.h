// A lower bound for a session from an external context model: loads the provider, maps the binary
// and has the provider restore its partitions, that is, create its oneDNN primitives. No model is
// read, nothing is checked, partitioned or planned.
#pragma once

#include <filesystem>

#include "tests/benchmarks/measurement.h"

namespace ephost::benchmarks {

// The phases are "providers" and "compile", as a session calls them. The provider's arguments, the
// nodes as graphs, are made before the clock starts.
[[nodiscard]] Result<Sample> time_primitives_only(const std::filesystem::path& context_model);

}  // namespace ephost::benchmarks
