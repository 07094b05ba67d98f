// nan_trial.h: a run of a primitive on NaN, to see whether it tells when it loses some.
#pragma once

#include <cstddef>

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// Whether the primitive of a step makes numbers of a source that is NaN throughout, and no invalid
// operation shows it (library/invalid_watch.h). False if the step does not read floats, or is to
// make numbers of them. Throws dnnl::error if the library refuses to run it.
[[nodiscard]] bool hides_nan(const Recipe& recipe, const Program& program, std::size_t step,
                             const dnnl::engine& engine);

}  // namespace ephost_dnnl
