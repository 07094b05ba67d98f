// How much work it is to fold a node: a rough number that depends on types and shapes only, never
// on the machine. One unit is an element that is read or written, or a multiplication.
#pragma once

#include <cstdint>
#include <optional>

#include "host/graph/graph.h"

namespace ephost::optimize {

// What looking at a node, and what calling a kernel once, counts as.
inline constexpr uint64_t kVisitWork = 500;
inline constexpr uint64_t kEvaluationWork = 10'000;

// Of elements that are read or written.
[[nodiscard]] uint64_t touching_work(const graph::Tensor& tensor);

// Of a node whose inputs are constant or left out; saturates. Outputs whose size is open count
// nothing; nothing is returned for an operator whose work cannot be told without it.
[[nodiscard]] std::optional<uint64_t> evaluation_work(const graph::Graph& graph,
                                                      const graph::Node& node);

}  // namespace ephost::optimize
