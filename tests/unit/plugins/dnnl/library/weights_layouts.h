// weights_layouts.h: layouts of weights of oneDNN, and tensors in them.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <random>
#include <vector>

#include "plugins/dnnl/library/descriptor.h"

namespace ephost_dnnl::weights_layouts {

const dnnl::engine& engine();

// Layouts with padding, with the tensors' extents; all sorts of tails.
std::vector<Descriptor> padded_layouts(ElementType type);

// Row-major, and all other orders of the dimensions.
std::vector<Descriptor> plain_layouts(const Dims& dims, ElementType type);

std::vector<unsigned char> random_bytes(std::size_t size, std::mt19937& random);

// The library reads layouts with padding rightly, in all versions.
std::vector<unsigned char> read_by_library(const std::vector<unsigned char>& bytes,
                                           const Descriptor& layout, const Descriptor& plain);

}  // namespace ephost_dnnl::weights_layouts
