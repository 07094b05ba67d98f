#include "plugins/onednn/element_moves.h"

#include <cmath>

namespace ephost_onednn {
namespace {

using Desc = dnnl::memory::desc;

// Calls `visit` with each pair of elements; `dimension` and those after it are left.
template <class From, class To, class Visit>
void walk(const std::vector<std::vector<int64_t>>& from_offsets,
          const std::vector<std::vector<int64_t>>& to_offsets, std::size_t dimension,
          const From* from, To* to, const Visit& visit) {
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
std::vector<std::vector<int64_t>> offsets_of(const LayoutBlocks& blocks) {
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

int8_t half(int8_t value) {
  return static_cast<int8_t>(std::nearbyint(static_cast<float>(value) * 0.5F));
}

}  // namespace

std::optional<ElementMoves> ElementMoves::plan(const Desc& from, const Desc& to) {
  const LayoutBlocks source = layout_blocks(from);
  const LayoutBlocks target = layout_blocks(to);
  if (layout_type(from) != layout_type(to) || source.dims != target.dims || source.dims.empty() ||
      !source.is_blocked || !target.is_blocked) {
    return std::nullopt;
  }
  ElementMoves moves;
  moves.element_size_ = dnnl::memory::data_type_size(layout_type(from));
  moves.from_ = offsets_of(source);
  moves.to_ = offsets_of(target);
  moves.padded_ = target.padded_dims;
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
    walk(from_, to_, 0, static_cast<const T*>(from), static_cast<const T*>(to),
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

std::vector<int32_t> ElementMoves::sums(const void* from, int mask) const {
  std::vector<Offsets> channels(from_.size());
  int64_t count = 1;
  for (std::size_t dimension = from_.size(); dimension-- > 0;) {
    const bool counts = (mask >> dimension & 1) != 0;
    for (std::size_t index = 0; index < from_[dimension].size(); ++index) {
      channels[dimension].push_back(counts ? static_cast<int64_t>(index) * count : 0);
    }
    if (counts) count *= padded_[dimension];
  }
  std::vector<int32_t> sums(static_cast<std::size_t>(count), 0);
  walk(from_, channels, 0, static_cast<const int8_t*>(from), sums.data(),
       [](int8_t source, int32_t& sum) { sum += source; });
  return sums;
}

}  // namespace ephost_onednn
