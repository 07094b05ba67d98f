// shrink.h: makes a case that fails smaller while it still fails, so that what is left shows why.
#pragma once

#include <functional>

#include "tests/differential/generate/random_graph.h"

namespace ephost::test {

// Leaves out sets of inputs and outputs, puts inputs in the place of nodes, connects readers of a
// node with what it reads, and drops what nobody needs any more, as long as `fails` says true.
[[nodiscard]] Case shrink(Case failing, const std::function<bool(const Case&)>& fails);

// Without nodes, constants and inputs that no output depends on.
[[nodiscard]] Case without_dead_parts(Case from);

}  // namespace ephost::test
