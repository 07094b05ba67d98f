#include "plugins/dnnl/library/descriptor.h"

#include <algorithm>
#include <vector>

#include "plugins/dnnl/library/primitives.h"

namespace ephost_dnnl {
namespace {

using DataType = dnnl::memory::data_type;

// A part of a dimension: `extent` steps of `stride` elements.
struct Component {
  int64_t extent = 0;
  int64_t stride = 0;
  bool operator==(const Component& other) const {
    return extent == other.extent && stride == other.stride;
  }
};

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// The number of innermost blocks along a dimension.
int64_t outer_extent(const LayoutFields& fields, int dimension) {
  int64_t extent = fields.padded_dims[dimension];
  for (int block = 0; block < fields.inner_block_count; ++block) {
    if (fields.inner_block_dims[block] == dimension) extent /= fields.inner_block_sizes[block];
  }
  return extent;
}

// The components of one dimension from slow to fast, merged where they continue each other.
std::vector<Component> components(const LayoutFields& fields, int dimension) {
  std::vector<Component> all;
  int64_t stride = 1;  // of the current block, counted from the innermost
  for (int block = fields.inner_block_count - 1; block >= 0; --block) {
    if (fields.inner_block_dims[block] == dimension) {
      all.push_back({fields.inner_block_sizes[block], stride});
    }
    stride *= fields.inner_block_sizes[block];
  }
  all.push_back({outer_extent(fields, dimension), fields.strides[dimension]});
  std::vector<Component> merged;
  for (auto part = all.rbegin(); part != all.rend(); ++part) {
    if (part->extent == 1) continue;
    if (!merged.empty() && merged.back().stride == part->extent * part->stride) {
      merged.back() = {merged.back().extent * part->extent, part->stride};
    } else {
      merged.push_back(*part);
    }
  }
  return merged;
}

// One stride per dimension if the layout has that form: no padding and no real blocks.
std::optional<Dims> plain_strides(const Descriptor& descriptor) {
  const LayoutFields fields = layout_fields(descriptor);
  if (!fields.is_blocked || fields.offset != 0 || fields.has_extra) return std::nullopt;
  // Version 3 doesn't tell whether there is extra data; then the layout takes up more bytes.
  if (is_integer(type_of(descriptor)) &&
      descriptor.get_size() != static_cast<std::size_t>(element_count(dims_of(descriptor)))) {
    return std::nullopt;
  }
  Dims strides;
  for (int i = 0; i < fields.ndims; ++i) {
    if (fields.dims[i] != fields.padded_dims[i]) return std::nullopt;
    const std::vector<Component> parts = components(fields, i);
    if (parts.size() > 1) return std::nullopt;
    strides.push_back(parts.empty() ? 0 : parts[0].stride);
  }
  return strides;
}

DataType to_library(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return DataType::f32;
    case ElementType::kU8:
      return DataType::u8;
    case ElementType::kS8:
      return DataType::s8;
  }
  return DataType::undef;
}

Descriptor strided(const Dims& dims, const Dims& strides, ElementType type) {
  return Descriptor(dims, to_library(type), strides);
}

// Strides of dimensions with extent 1 do not affect where elements lie, but the library recognises
// layouts by them: leading ones span the tensor, others span the dimensions that follow.
Dims normalised(const Dims& dims, Dims strides) {
  int64_t span = 1, next = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) strides[i] = next;
    next = strides[i] * dims[i];
    span = std::max(span, next);
  }
  for (std::size_t i = 0; i < dims.size() && dims[i] == 1; ++i) strides[i] = span;
  return strides;
}

void append_fields(std::string& bytes, const dnnl_dims_t& values, int count) {
  for (int i = 0; i < count; ++i) append_field(bytes, values[i]);
}

}  // namespace

Descriptor row_major(const Dims& dims, ElementType type) {
  return strided(dims, row_major_strides(dims), type);
}

Descriptor channels_last(const Dims& dims, ElementType type) {
  Dims permutation = {0};
  for (std::size_t i = 2; i < dims.size(); ++i) permutation.push_back(static_cast<int64_t>(i));
  permutation.push_back(1);
  return row_major_after(dims, permutation, type);
}

Descriptor any_layout(const Dims& dims, ElementType type) {
  return Descriptor(dims, to_library(type), dnnl::memory::format_tag::any);
}

Descriptor row_major_after(const Dims& dims, const Dims& permutation, ElementType type) {
  Dims transposed;
  for (const int64_t from : permutation) transposed.push_back(dims[static_cast<std::size_t>(from)]);
  const Dims target = row_major_strides(transposed);
  Dims strides(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    strides[static_cast<std::size_t>(permutation[i])] = target[i];
  }
  return strided(dims, normalised(dims, strides), type);
}

Dims dims_of(const Descriptor& descriptor) {
  const LayoutFields fields = layout_fields(descriptor);
  return {fields.dims, fields.dims + fields.ndims};
}

ElementType type_of(const Descriptor& descriptor) {
  const int type = layout_fields(descriptor).data_type;
  if (type == dnnl_u8) return ElementType::kU8;
  return type == dnnl_s8 ? ElementType::kS8 : ElementType::kF32;
}

Descriptor with_type(const Descriptor& descriptor, ElementType type) {
  const Dims dims = dims_of(descriptor);
  if (type_of(descriptor) == type) return descriptor;
  const std::optional<Dims> strides = plain_strides(descriptor);
  return strided(dims, strides ? normalised(dims, *strides) : row_major_strides(dims), type);
}

bool has_padding(const Descriptor& descriptor) {
  const LayoutFields fields = layout_fields(descriptor);
  return !std::equal(fields.dims, fields.dims + fields.ndims, fields.padded_dims);
}

bool same_layout(const Descriptor& a, const Descriptor& b) {
  if (a == b) return true;
  if (dims_of(a) != dims_of(b) || type_of(a) != type_of(b)) return false;
  const std::optional<Dims> left = plain_strides(a), right = plain_strides(b);
  return left && right && *left == *right;
}

std::optional<Descriptor> reshape_view(const Descriptor& descriptor, const Dims& dims) {
  const Dims old_dims = dims_of(descriptor);
  if (old_dims == dims) return descriptor;
  const std::optional<Dims> old_strides = plain_strides(descriptor);
  if (!old_strides || element_count(old_dims) != element_count(dims)) return std::nullopt;

  // Walks both shapes from the slowest dimension on in groups of equal element count; each old
  // group must be one contiguous run, which the new group then divides.
  Dims strides(dims.size(), 0);
  std::size_t old_end = 0, new_end = 0;
  while (new_end < dims.size() && old_end < old_dims.size()) {
    const std::size_t old_begin = old_end, new_begin = new_end;
    int64_t old_count = old_dims[old_end++], new_count = dims[new_end++];
    while (old_count != new_count) {
      if (old_count < new_count)
        old_count *= old_dims[old_end++];
      else
        new_count *= dims[new_end++];
    }
    std::optional<int64_t> run;  // stride of the fastest dimension so far, going to slower ones
    int64_t covered = 1;
    for (std::size_t i = old_end; i-- > old_begin;) {
      if (old_dims[i] == 1) continue;
      if (!run) run = (*old_strides)[i];
      if ((*old_strides)[i] != *run * covered) return std::nullopt;
      covered *= old_dims[i];
    }
    int64_t stride = run.value_or(0);
    for (std::size_t i = new_end; i-- > new_begin;) {
      strides[i] = stride;
      stride *= dims[i];
    }
  }
  return strided(dims, normalised(dims, strides), type_of(descriptor));
}

std::optional<Descriptor> transpose_view(const Descriptor& descriptor, const Dims& permutation) {
  const std::optional<Dims> old_strides = plain_strides(descriptor);
  if (!old_strides) return std::nullopt;
  const Dims old_dims = dims_of(descriptor);
  Dims dims, strides;
  for (const int64_t from : permutation) {
    dims.push_back(old_dims[static_cast<std::size_t>(from)]);
    strides.push_back((*old_strides)[static_cast<std::size_t>(from)]);
  }
  return strided(dims, normalised(dims, strides), type_of(descriptor));
}

std::string descriptor_bytes(const Descriptor& descriptor) {
  const LayoutFields fields = layout_fields(descriptor);
  std::string bytes;
  append_field(bytes, fields.ndims);
  append_field(bytes, fields.data_type);
  append_fields(bytes, fields.dims, fields.ndims);
  append_fields(bytes, fields.padded_dims, fields.ndims);
  append_fields(bytes, fields.padded_offsets, fields.ndims);
  append_field(bytes, fields.offset);
  append_field(bytes, fields.format_kind);
  if (fields.is_blocked) {
    for (int i = 0; i < fields.ndims; ++i) {
      append_field(bytes, outer_extent(fields, i) == 1 ? 0 : fields.strides[i]);
    }
    append_field(bytes, fields.inner_block_count);
    append_fields(bytes, fields.inner_block_sizes, fields.inner_block_count);
    append_fields(bytes, fields.inner_block_dims, fields.inner_block_count);
  }
  return bytes + fields.rest;
}

}  // namespace ephost_dnnl
