#include "plugins/onednn/safe_reorder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace ephost_onednn {
namespace {

using Desc = dnnl::memory::desc;
using DataType = dnnl::memory::data_type;

// Sources of s8 are moved to u8 by adding 128, which the sums take back.
constexpr int32_t kSignedSourceFactor = -128;
constexpr int32_t kZeroPointsFactor = -1;

std::size_t size_of_elements(const LayoutBlocks& blocks, DataType type) {
  std::size_t size = dnnl::memory::data_type_size(type);
  for (const int64_t extent : blocks.padded_dims) size *= static_cast<std::size_t>(extent);
  return size;
}

bool is_integer(DataType type) { return type == DataType::s8 || type == DataType::u8; }

bool has_sums(const Desc& layout) {
  const LayoutBlocks blocks = layout_blocks(layout);
  if (blocks.sums) return blocks.sums->are_any();
  return is_integer(layout_type(layout)) &&
         layout.get_size() > size_of_elements(blocks, layout_type(layout));
}

[[noreturn]] void refuse(const char* reason) { throw dnnl::error(dnnl_unimplemented, reason); }

// The masks under which a layout of weights can have sums: of a convolution with groups or without,
// and of a matrix product.
std::vector<int> possible_masks(std::size_t rank) {
  return {0b1, 0b11, 1 << static_cast<int>(rank - 1)};
}

std::vector<int32_t> scaled(std::vector<int32_t> sums, int32_t factor) {
  for (int32_t& sum : sums) sum *= factor;
  return sums;
}

// Both kinds of sums in the order in which they are stored.
std::vector<int32_t> both(const std::vector<int32_t>& for_signed_source,
                          const std::vector<int32_t>& for_zero_points) {
  std::vector<int32_t> sums = scaled(for_signed_source, kSignedSourceFactor);
  const std::vector<int32_t> others = scaled(for_zero_points, kZeroPointsFactor);
  sums.insert(sums.end(), others.begin(), others.end());
  return sums;
}

}  // namespace

bool is_trusted_with_elements() { return dnnl_version()->major < 3; }

std::optional<SafeReorder> SafeReorder::plan(const Desc& from, const Desc& to,
                                             bool trusts_elements) {
  const LayoutBlocks target = layout_blocks(to);
  if (!target.is_blocked || (!has_sums(to) && (trusts_elements || !target.has_padding()))) {
    return std::nullopt;
  }
  std::optional<ElementMoves> moves = ElementMoves::plan(from, to);
  if (!moves) return std::nullopt;
  return SafeReorder(*std::move(moves), to, trusts_elements);
}

SafeReorder::SafeReorder(ElementMoves moves, const Desc& to, bool trusts_elements)
    : moves_(std::move(moves)),
      target_(layout_blocks(to)),
      size_(to.get_size()),
      elements_size_(size_of_elements(target_, layout_type(to))),
      is_of_integers_(is_integer(layout_type(to))),
      has_sums_(has_sums(to)),
      trusts_elements_(trusts_elements) {}

void SafeReorder::run(const void* from, void* to) const {
  if (!is_of_integers_) {
    std::memset(to, 0, size_);  // primitives count on zeros in the padding
    return moves_.run(from, to);
  }
  if (!trusts_elements_) {
    const ElementMoves::Difference wrong = moves_.compare(from, to);
    if (wrong.from_half < wrong.from_whole) refuse("oneDNN's reorder halves weights");
    if (wrong.from_whole > 0) moves_.run(from, to);
  }
  if (!has_sums_) return;
  if (target_.sums) {
    store_sums(from, to);
  } else if (!has_right_sums(from, to)) {
    refuse("oneDNN's reorder stores wrong sums of weights");
  }
}

void SafeReorder::store_sums(const void* from, void* to) const {
  const LayoutSums& told = *target_.sums;
  if (told.are_of_halves) refuse("oneDNN's reorder halves weights");
  const auto sums_if = [&](bool has, int mask) {
    return has ? moves_.sums(from, mask) : std::vector<int32_t>();
  };
  const std::vector<int32_t> sums = both(sums_if(told.of_signed_source, told.signed_source_mask),
                                         sums_if(told.of_zero_points, told.zero_points_mask));
  if (told.has_others || sums_offset() + sums.size() * sizeof(int32_t) > size_) {
    refuse("oneDNN's sums of weights are of an unknown kind");
  }
  std::memcpy(static_cast<unsigned char*>(to) + sums_offset(), sums.data(),
              sums.size() * sizeof(int32_t));
}

bool SafeReorder::has_right_sums(const void* from, const void* to) const {
  if (sums_offset() > size_) return false;
  std::vector<int32_t> stored((size_ - sums_offset()) / sizeof(int32_t));
  std::memcpy(stored.data(), static_cast<const unsigned char*>(to) + sums_offset(),
              stored.size() * sizeof(int32_t));
  const std::vector<int> masks = possible_masks(target_.dims.size());
  return std::any_of(masks.begin(), masks.end(), [&](int mask) {
    const std::vector<int32_t> sums = moves_.sums(from, mask);
    return stored == scaled(sums, kSignedSourceFactor) ||
           stored == scaled(sums, kZeroPointsFactor) || stored == both(sums, sums);
  });
}

}  // namespace ephost_onednn
