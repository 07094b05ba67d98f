// Checked reading of the attributes that describe trees. Used by the two readers of tree.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plugins/cpu/kernels/ml/ml.h"

namespace ephost_cpu {

// Throws unless the attribute `name` has `wanted` entries.
void check_size(std::size_t size, std::size_t wanted, const std::string& name);

// The entry of the attribute `name` as an index. Throws unless it is in [0, size).
uint32_t index_in(int64_t index, std::size_t size, const std::string& name);

// An entry of nodes_featureids. Throws if it is out of range.
[[nodiscard]] uint32_t feature_of(int64_t feature);

// A list attribute with `count` entries. Throws for another number.
[[nodiscard]] std::vector<int64_t> sized_ints(const eph::NodeView& node, const char* name,
                                              std::size_t count);

// nodes_missing_value_tracks_true with `count` entries, zeros if it is omitted.
[[nodiscard]] std::vector<int64_t> missing_value_tracks(const eph::NodeView& node,
                                                        std::size_t count);

}  // namespace ephost_cpu
