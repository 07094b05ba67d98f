// descriptor.h: oneDNN memory descriptors as layouts: whether two describe the same bytes, how a
// tensor looks reshaped or transposed without moving an element, and a byte form that can be
// compared and stored.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

using Descriptor = dnnl::memory::desc;

// A dense layout whose last dimension is the fastest.
[[nodiscard]] Descriptor row_major(const Dims& dims, ElementType type = ElementType::kF32);

// A dense layout whose second dimension is the fastest, and the others as in row-major order.
[[nodiscard]] Descriptor channels_last(const Dims& dims, ElementType type);

// Leaves the choice of the layout to the library.
[[nodiscard]] Descriptor any_layout(const Dims& dims, ElementType type = ElementType::kF32);

// The layout that a tensor must have so that its transposition is row-major.
[[nodiscard]] Descriptor row_major_after(const Dims& dims, const Dims& permutation,
                                         ElementType type = ElementType::kF32);

[[nodiscard]] Dims dims_of(const Descriptor& descriptor);

// The type of the elements, which is one of those that a recipe has.
[[nodiscard]] ElementType type_of(const Descriptor& descriptor);

// A dense layout of elements of that type in the order of another dense layout; row-major for
// layouts with blocks.
[[nodiscard]] Descriptor with_type(const Descriptor& descriptor, ElementType type);

// Whether some dimension takes up more than its extent, which happens if blocks do not divide it.
[[nodiscard]] bool has_padding(const Descriptor& descriptor);

// Whether both place every element of the same type and dimensions at the same offset.
[[nodiscard]] bool same_layout(const Descriptor& a, const Descriptor& b);

// The same bytes with other dimensions of as many elements; nothing if elements would have to move.
[[nodiscard]] std::optional<Descriptor> reshape_view(const Descriptor& descriptor,
                                                     const Dims& dims);

// The same bytes transposed: dimension i is the former dimension permutation[i]. Nothing for
// blocked layouts.
[[nodiscard]] std::optional<Descriptor> transpose_view(const Descriptor& descriptor,
                                                       const Dims& permutation);

// Every field that determines the layout, in a form without padding; equal layouts chosen by the
// library give equal bytes. Strides of dimensions with a single step are written as 0.
[[nodiscard]] std::string descriptor_bytes(const Descriptor& descriptor);

}  // namespace ephost_dnnl
