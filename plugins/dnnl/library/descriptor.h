// descriptor.h: memory descriptors of oneDNN seen as layouts: whether two mean the same bytes, what
// a tensor looks like under other dimensions or transposed without moving an element, and a byte
// form that can be compared and stored.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

using Descriptor = dnnl::memory::desc;

// Dense, last dimension fastest.
[[nodiscard]] Descriptor row_major(const Dims& dims);

// The library chooses.
[[nodiscard]] Descriptor any_layout(const Dims& dims);

// The layout that a tensor must have so that its transposition is row-major.
[[nodiscard]] Descriptor row_major_after(const Dims& dims, const Dims& permutation);

[[nodiscard]] Dims dims_of(const Descriptor& descriptor);

// Whether some dimension takes up more than its extent, as blocks do that don't divide it.
[[nodiscard]] bool has_padding(const Descriptor& descriptor);

// Whether both place every element of the same dimensions at the same offset.
[[nodiscard]] bool same_layout(const Descriptor& a, const Descriptor& b);

// The same bytes under other dimensions with as many elements, or none where elements would have to
// move.
[[nodiscard]] std::optional<Descriptor> reshape_view(const Descriptor& descriptor,
                                                     const Dims& dims);

// The same bytes with dimension i being the former permutation[i], or none for layouts with blocks.
[[nodiscard]] std::optional<Descriptor> transpose_view(const Descriptor& descriptor,
                                                       const Dims& permutation);

// Every field that determines the layout, in a form without padding; equal layouts chosen by the
// library give equal bytes. Strides of dimensions without a second step count as 0.
[[nodiscard]] std::string descriptor_bytes(const Descriptor& descriptor);

}  // namespace ephost_dnnl
