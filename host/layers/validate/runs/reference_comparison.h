// Comparison of the results of a run with those of the CPU provider.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <memory>
#include <optional>

#include "host/layers/validate/finding.h"
#include "host/layers/validate/runs/guarded_run.h"
#include "host/layers/validate/runs/reference.h"

namespace ephost::layers {

// The reference of a graph. Fails with the reason why there is none.
[[nodiscard]] Result<std::shared_ptr<Reference>> reference_of(const eph_graph& graph,
                                                              const MakeReference& make);

// The first output in which a run differs from the reference; nothing if they agree, or if the
// reference fails. `run` has succeeded and has only tensors in host memory; its outputs were not
// copied to `inner`, the host's run, whose inputs are as they were before.
[[nodiscard]] std::optional<Finding> difference_from(Reference& reference, const eph_run& inner,
                                                     const GuardedRun& run);

}  // namespace ephost::layers
