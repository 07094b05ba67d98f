// element_moves.h: elements put from the places of one layout of oneDNN to those of another one,
// without the library. oneDNN 3.7.2 puts some elements into wrong places where it reorders to a
// layout of weights with padding (seen on SSE4.1, AVX2 and AVX-512, for f32, bf16 and s8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#include <dnnl.hpp>
#pragma GCC diagnostic pop

namespace ephost_onednn {

class ElementMoves {
 public:
  // Nothing unless both layouts have the same dimensions, and blocks, or none, of elements of one
  // type.
  [[nodiscard]] static std::optional<ElementMoves> plan(const dnnl::memory::desc& from,
                                                        const dnnl::memory::desc& to);

  // Leaves what `to` has beside the elements as it is.
  void run(const void* from, void* to) const;

  // How many elements of `to` are others than those of `from`, and than their halves, which is what
  // a layout of weights for processors without VNNI holds of s8.
  struct Difference {
    int64_t from_whole = 0;
    int64_t from_half = 0;
  };
  [[nodiscard]] Difference compare(const void* from, const void* to) const;

 private:
  using Offsets = std::vector<int64_t>;  // what each index of a dimension adds, in elements

  std::size_t element_size_ = 0;
  std::vector<Offsets> from_, to_;  // by dimension
};

// Whether reorders of the library in this process to layouts with padding are right. Those of
// version 2 are; which ones of version 3 are wrong follows from no simple rule.
[[nodiscard]] bool is_trusted_with_padding();

// A reorder in the place of the library's where that is not trusted. It does the elements of floats
// itself. Of integers only the library knows whether it halves them and what it adds to them, so
// that its work is checked.
class SafeReorder {
 public:
  // Nothing where the library's reorder is trusted.
  [[nodiscard]] static std::optional<SafeReorder> plan(
      const dnnl::memory::desc& from, const dnnl::memory::desc& to,
      bool trusts_library = is_trusted_with_padding());

  // Whether the library has to run first.
  [[nodiscard]] bool needs_library() const { return is_of_integers_; }
  // Fills the target, or corrects what the library has made of it. Throws dnnl::error
  // (unimplemented) where that cannot be corrected, or has sums of the library's besides.
  void run(const void* from, void* to) const;

 private:
  SafeReorder(ElementMoves moves, const dnnl::memory::desc& to);

  ElementMoves moves_;
  std::size_t size_;  // of the target
  bool is_of_integers_;
  bool has_more_than_elements_;
};

}  // namespace ephost_onednn
