// row_chains.h: the nodes with open extents that the provider takes: chains of matrix products with
// constants, and the functions of single elements after them, as long as each is the only reader of
// what the one before it computes.
#pragma once

#include <cstdint>
#include <ephost/plugin.hpp>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

namespace ephost_dnnl {

// The nodes of each chain, ascending. Chains whose stated extents are of fewer rows than
// `least_rows`, with open extents counted as 1, are left out. Every chain has one input and one
// output, holds for any extents before their last ones, and begins with a product of a value with
// open extents.
[[nodiscard]] std::vector<std::vector<uint32_t>> find_row_chains(const eph::GraphView& graph,
                                                                 const dnnl::engine& engine,
                                                                 int64_t least_rows);

}  // namespace ephost_dnnl
