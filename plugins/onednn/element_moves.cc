#include "plugins/onednn/element_moves.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace ephost_onednn {
namespace {

using Desc = dnnl::memory::desc;
using DataType = dnnl::memory::data_type;
using Dims = dnnl::memory::dims;

// What a layout says, in all versions of the library.
struct Blocks {
  bool is_blocked = false;
  Dims dims, padded_dims, strides;
  Dims sizes, of_dims;  // of the inner blocks, from the outermost on
  int64_t offset = 0;   // of the first element
  bool has_extra = false;
};

DataType type_of(const Desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_data_type();
#else
  return desc.data_type();
#endif
}

#if DNNL_VERSION_MAJOR >= 3
Blocks blocks_of(const Desc& desc) {
  Blocks blocks;
  blocks.dims = desc.get_dims();
  blocks.padded_dims = desc.get_padded_dims();
  blocks.is_blocked = desc.get_format_kind() == dnnl::memory::format_kind::blocked;
  if (!blocks.is_blocked) return blocks;
  blocks.strides = desc.get_strides();
  blocks.sizes = desc.get_inner_blks();
  const Dims of_dims = desc.get_inner_idxs();
  blocks.of_dims.assign(of_dims.begin(), of_dims.end());
  blocks.offset = desc.get_submemory_offset();
  return blocks;
}
#else
Blocks blocks_of(const Desc& desc) {
  const dnnl_memory_desc_t& raw = desc.data;
  Blocks blocks;
  blocks.dims.assign(raw.dims, raw.dims + raw.ndims);
  blocks.padded_dims.assign(raw.padded_dims, raw.padded_dims + raw.ndims);
  blocks.is_blocked = raw.format_kind == dnnl_blocked;
  if (!blocks.is_blocked) return blocks;
  const dnnl_blocking_desc_t& blocking = raw.format_desc.blocking;
  blocks.strides.assign(blocking.strides, blocking.strides + raw.ndims);
  blocks.sizes.assign(blocking.inner_blks, blocking.inner_blks + blocking.inner_nblks);
  blocks.of_dims.assign(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks);
  blocks.offset = raw.offset0;
  blocks.has_extra = raw.extra.flags != 0;
  return blocks;
}
#endif

// Calls `visit` with each pair of elements; `dimension` and those after it are left.
template <class T, class Visit>
void walk(const std::vector<std::vector<int64_t>>& from_offsets,
          const std::vector<std::vector<int64_t>>& to_offsets, std::size_t dimension, const T* from,
          T* to, const Visit& visit) {
  const std::vector<int64_t>& from_steps = from_offsets[dimension];
  const std::vector<int64_t>& to_steps = to_offsets[dimension];
  const bool is_last = dimension + 1 == from_offsets.size();
  for (std::size_t i = 0; i < from_steps.size(); ++i) {
    if (is_last) {
      visit(from[from_steps[i]], to[to_steps[i]]);
    } else {
      walk(from_offsets, to_offsets, dimension + 1, from + from_steps[i], to + to_steps[i], visit);
    }
  }
}

// The offset of an element is the sum of what the index in each dimension adds.
std::vector<std::vector<int64_t>> offsets_of(const Blocks& blocks) {
  std::vector<std::vector<int64_t>> offsets;
  for (std::size_t dimension = 0; dimension < blocks.dims.size(); ++dimension) {
    std::vector<int64_t>& added = offsets.emplace_back();
    for (int64_t index = 0; index < blocks.dims[dimension]; ++index) {
      int64_t offset = dimension == 0 ? blocks.offset : 0;
      int64_t left = index;
      int64_t stride = 1;  // of the current block, from the innermost on
      for (std::size_t block = blocks.sizes.size(); block-- > 0;) {
        if (blocks.of_dims[block] == static_cast<int64_t>(dimension)) {
          offset += left % blocks.sizes[block] * stride;
          left /= blocks.sizes[block];
        }
        stride *= blocks.sizes[block];
      }
      added.push_back(offset + left * blocks.strides[dimension]);
    }
  }
  return offsets;
}

// What weights of s8 become where products of them must not saturate.
int8_t half(int8_t value) {
  return static_cast<int8_t>(std::nearbyint(static_cast<float>(value) * 0.5F));
}

// Sums of integers that the library adds to a layout, as far as it tells.
bool has_more_than_elements(const Desc& desc) {
  const Blocks blocks = blocks_of(desc);
  std::size_t size = dnnl::memory::data_type_size(type_of(desc));
  for (const int64_t extent : blocks.padded_dims) size *= static_cast<std::size_t>(extent);
  return blocks.has_extra || desc.get_size() != size;
}

}  // namespace

std::optional<ElementMoves> ElementMoves::plan(const Desc& from, const Desc& to) {
  const Blocks source = blocks_of(from);
  const Blocks target = blocks_of(to);
  if (type_of(from) != type_of(to) || source.dims != target.dims || source.dims.empty() ||
      !source.is_blocked || !target.is_blocked) {
    return std::nullopt;
  }
  ElementMoves moves;
  moves.element_size_ = dnnl::memory::data_type_size(type_of(from));
  moves.from_ = offsets_of(source);
  moves.to_ = offsets_of(target);
  return moves;
}

void ElementMoves::run(const void* from, void* to) const {
  // As integers: a NaN keeps its bits.
  const auto move = [&]<class T>(T) {
    walk(from_, to_, 0, static_cast<const T*>(from), static_cast<T*>(to),
         [](T source, T& target) { target = source; });
  };
  if (element_size_ == 4) return move(uint32_t{});
  return element_size_ == 2 ? move(uint16_t{}) : move(uint8_t{});
}

ElementMoves::Difference ElementMoves::compare(const void* from, const void* to) const {
  Difference found;
  const auto compare_as = [&]<class T>(T) {
    walk(from_, to_, 0, static_cast<const T*>(from),
         static_cast<T*>(const_cast<void*>(to)),  // which is only read
         [&](T source, T target) {
           found.from_whole += source != target ? 1 : 0;
           if constexpr (sizeof(T) == 1) found.from_half += half(source) != target ? 1 : 0;
         });
  };
  if (element_size_ == 1) {
    compare_as(int8_t{});
    return found;
  }
  element_size_ == 2 ? compare_as(uint16_t{}) : compare_as(uint32_t{});
  found.from_half = found.from_whole;
  return found;
}

bool is_trusted_with_padding() { return dnnl_version()->major < 3; }

std::optional<SafeReorder> SafeReorder::plan(const Desc& from, const Desc& to,
                                             bool trusts_library) {
  if (trusts_library) return std::nullopt;
  const Blocks blocks = blocks_of(to);
  if (!blocks.is_blocked || blocks.dims == blocks.padded_dims) return std::nullopt;
  std::optional<ElementMoves> moves = ElementMoves::plan(from, to);
  if (!moves) return std::nullopt;
  return SafeReorder(*std::move(moves), to);
}

SafeReorder::SafeReorder(ElementMoves moves, const Desc& to)
    : moves_(std::move(moves)),
      size_(to.get_size()),
      is_of_integers_(type_of(to) == DataType::s8 || type_of(to) == DataType::u8),
      has_more_than_elements_(has_more_than_elements(to)) {}

void SafeReorder::run(const void* from, void* to) const {
  if (!is_of_integers_) {
    std::memset(to, 0, size_);  // primitives count on zeros in the padding
    return moves_.run(from, to);
  }
  if (has_more_than_elements_) {
    throw dnnl::error(dnnl_unimplemented, "oneDNN's sums of a layout with padding are not trusted");
  }
  const ElementMoves::Difference wrong = moves_.compare(from, to);
  if (wrong.from_whole == 0 || wrong.from_half == 0) return;
  if (wrong.from_half < wrong.from_whole) {
    throw dnnl::error(dnnl_unimplemented, "oneDNN's reorder puts elements into wrong places");
  }
  moves_.run(from, to);
}

}  // namespace ephost_onednn
