// shrink.h: the reduction of a failing case to a smaller one that still fails, so that the rest
// shows the reason.
#pragma once

#include <functional>

#include "host/conformance/random/generate/random_graph.h"

namespace ephost::test {

using conformance::Case;

// Removes sets of inputs and outputs, replaces nodes by inputs, connects readers of a node with
// what it reads, and drops what is no longer needed, as long as `fails` returns true.
[[nodiscard]] Case shrink(Case failing, const std::function<bool(const Case&)>& fails);

// The case without nodes, constants and inputs that no output depends on.
[[nodiscard]] Case without_dead_parts(Case from);

}  // namespace ephost::test
