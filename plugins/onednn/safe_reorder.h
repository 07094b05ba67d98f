// safe_reorder.h: reorders in the place of those that oneDNN is known to do wrongly. Version 3.7.2
// puts some elements into wrong places where it reorders to a layout of weights with padding (seen
// on SSE4.1, AVX2 and AVX-512, for f32, bf16 and s8), and stores sums of grouped weights over their
// last elements where these do not fill words. Version 2.6.3 stores wrong sums of some grouped
// weights: of shape [g, 8 / g, 8, 1, 1], and of those with more than some 256 inputs of an output.
#pragma once

#include <cstddef>
#include <optional>

#include "plugins/onednn/element_moves.h"

namespace ephost_onednn {

// Whether the library in this process puts elements where they belong. Version 2 does; which
// reorders of version 3 are wrong follows from no simple rule.
[[nodiscard]] bool is_trusted_with_elements();

// Moves elements of floats itself. Of integers only the library knows what sums it adds to them, so
// that its work is checked. Halves of integers, which the library makes for processors without
// exact products, are refused.
class SafeReorder {
 public:
  // Nothing where the library's reorder is trusted.
  [[nodiscard]] static std::optional<SafeReorder> plan(
      const dnnl::memory::desc& from, const dnnl::memory::desc& to,
      bool trusts_elements = is_trusted_with_elements());

  // Whether the library has to run first.
  [[nodiscard]] bool needs_library() const { return is_of_integers_; }
  // Fills the target, or corrects what the library has made of it. Throws dnnl::error
  // (unimplemented) where that cannot be corrected.
  void run(const void* from, void* to) const;

 private:
  SafeReorder(ElementMoves moves, const dnnl::memory::desc& to, bool trusts_elements);

  // Where the layout tells which sums it has, they are stored again; elsewhere they are compared.
  void store_sums(const void* from, void* to) const;
  [[nodiscard]] bool has_right_sums(const void* from, const void* to) const;
  [[nodiscard]] std::size_t sums_offset() const { return (elements_size_ + 3) / 4 * 4; }

  ElementMoves moves_;
  LayoutBlocks target_;
  std::size_t size_;           // of the target, in bytes
  std::size_t elements_size_;  // of its elements with their padding
  bool is_of_integers_;
  bool has_sums_;
  bool trusts_elements_;
};

}  // namespace ephost_onednn
