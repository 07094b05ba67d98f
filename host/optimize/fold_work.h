// An estimate of the work of folding a node: a rough number that depends on types and shapes only,
// never on the machine. One unit is an element that is read or written, or a multiplication.
#pragma once

#include <cstdint>
#include <optional>

#include "host/graph/graph.h"

namespace ephost::optimize {

// The work of visiting a node, and of calling a kernel once.
inline constexpr uint64_t kVisitWork = 500;
inline constexpr uint64_t kEvaluationWork = 10'000;

// The work of reading or writing the given elements.
[[nodiscard]] uint64_t access_work(const graph::Tensor& tensor);

// The work of a node whose inputs are constant or omitted; saturates. Outputs of dynamic size count
// as nothing; for an operator whose work depends on them, returns nothing.
[[nodiscard]] std::optional<uint64_t> evaluation_work(const graph::Graph& graph,
                                                      const graph::Node& node);

}  // namespace ephost::optimize
