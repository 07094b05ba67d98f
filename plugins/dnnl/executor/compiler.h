// compiler.h: the maker of computations: from a graph, by lowering, passes and packing, or from a
// stored recipe and its packed constants.
#pragma once

#include <ephost/plugin.hpp>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "plugins/dnnl/context/container.h"
#include "plugins/dnnl/executor/computation.h"
#include "plugins/dnnl/executor/constants.h"
#include "plugins/dnnl/executor/partition_computation.h"

namespace ephost_dnnl {

// Throws Failure if the graph can't be compiled. `warn` is called when the computation falls back
// to another primitive in a run. A graph with open extents becomes a computation that reads the
// graph's constants for as long as it lives; others pack them, and call `release` for those that
// will not be read again.
[[nodiscard]] std::unique_ptr<PartitionComputation> compile_partition(
    const eph::GraphView& graph, std::string name, const dnnl::engine& engine, int threads,
    const ReleaseFunction& release, NanMode nan, WarnFunction warn);

// Throws LayoutMismatch if, with that many threads, the library chooses other layouts than the
// constants were packed in; NoPrimitive or StepFailed where it cannot compute the recipe.
[[nodiscard]] std::unique_ptr<PartitionComputation> restore_partition(const LoadedPartition& loaded,
                                                                      std::string name,
                                                                      const dnnl::engine& engine,
                                                                      int threads, NanMode nan,
                                                                      WarnFunction warn);

}  // namespace ephost_dnnl
