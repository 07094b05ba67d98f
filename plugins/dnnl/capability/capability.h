// capability.h: the answer to get_capability: which nodes the provider claims, in which partitions,
// and why it leaves the others alone.
#pragma once

#include <cstdint>
#include <ephost/plugin.hpp>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace ephost_dnnl {

struct Capability {
  std::vector<std::vector<uint32_t>> partitions;  // node indices, ascending
  // Partitions with any number of rows (row_chains.h). Their constants must stay.
  std::vector<std::vector<uint32_t>> open_partitions;
  std::vector<std::string> reasons;  // by node; empty for claimed and taken ones
};

// The nodes that the provider leaves alone only because extents are open, ascending: those of its
// operators, on float tensors. None if no node among them is worth a partition.
[[nodiscard]] std::vector<uint32_t> find_open_nodes(const eph::GraphView& graph);

// `least_open_rows` as in row_chains.h.
[[nodiscard]] Capability find_capability(const eph::GraphView& graph, const dnnl::engine& engine,
                                         int64_t least_open_rows);

}  // namespace ephost_dnnl
