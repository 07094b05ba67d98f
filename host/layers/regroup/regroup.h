// The layer "regroup": compiles partitions in other groups than the host asked for, in reverse
// order, by ones and twos. A provider has to make the same computations of them (rule 24), as the
// host may compile a partition alone, again, or later than others.
#pragma once

#include <memory>

#include "host/layers/layer.h"

namespace ephost::layers {

[[nodiscard]] std::shared_ptr<Layer> make_regroup();

}  // namespace ephost::layers
