// compiler.h: the two ways to a computation: from a graph, by lowering, passes and packing; or from
// a stored recipe and its packed constants.
#pragma once

#include <ephost/plugin.hpp>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "plugins/dnnl/context/container.h"
#include "plugins/dnnl/executor/computation.h"
#include "plugins/dnnl/executor/constants.h"

namespace ephost_dnnl {

// Throws Failure where the graph can't be compiled. `warn` is told what the computation falls back
// to when it runs.
[[nodiscard]] std::unique_ptr<DnnlComputation> compile_partition(
    const eph::GraphView& graph, std::string name, const dnnl::engine& engine, int threads,
    ReleaseFunction release, WarnFunction warn);

// Throws LayoutMismatch where the library chooses other layouts with that many threads than the
// constants were packed for; NoPrimitive or StepFailed where it cannot compute the recipe.
[[nodiscard]] std::unique_ptr<DnnlComputation> restore_partition(const LoadedPartition& loaded,
                                                                 std::string name,
                                                                 const dnnl::engine& engine,
                                                                 int threads, WarnFunction warn);

}  // namespace ephost_dnnl
