#include "plugins/cpu/microsoft/inference.h"

#include <algorithm>

#include "plugins/cpu/core/dims.h"
#include "plugins/cpu/kernels/windows/window.h"

namespace ephost_cpu::infer {
namespace {

Extent broadcast_extent(const Extent& a, const Extent& b) {
  if (a.count == 1) return b;
  if (b.count == 1) return a;
  if (!a.is_known() && b.is_known()) return b;  // the unknown one is 1 or the same
  if (a.is_known() && !b.is_known()) return a;
  if (!a.is_known()) {
    const bool is_same = a.symbol.size > 0 && eph::view(a.symbol) == eph::view(b.symbol);
    return is_same ? a : Extent{};
  }
  if (a.count != b.count) {
    fail("extents " + std::to_string(a.count) + " and " + std::to_string(b.count) +
         " cannot be broadcast");
  }
  return a;
}

bool are_known(const Extents& extents) {
  return std::all_of(extents.begin(), extents.end(), [](const Extent& e) { return e.is_known(); });
}

Dims counts(const Extents& extents) {
  Dims dims;
  for (const Extent& extent : extents) dims.push_back(extent.count);
  return dims;
}

// Throws for a rank that no kernel takes, as Dims would.
void check_size(const Extents& extents) {
  if (extents.size() > kMaxRank)
    fail("a rank of " + std::to_string(extents.size()) + " is too high");
}

struct Image {
  Extent batch, channels;
  Extents spatial;
};

Image image_of(const Extents& x, bool channels_last) {
  check_size(x);
  if (x.size() < 3) fail("the input " + to_text(x) + " has no spatial dimensions");
  const auto first = x.begin() + (channels_last ? 1 : 2);
  return {x[0], channels_last ? x.back() : x[1],
          Extents(first, first + static_cast<std::ptrdiff_t>(x.size() - 2))};
}

Extents shape_of_image(Image image, bool channels_last) {
  Extents shape = {image.batch};
  if (!channels_last) shape.push_back(image.channels);
  shape.insert(shape.end(), image.spatial.begin(), image.spatial.end());
  if (channels_last) shape.push_back(image.channels);
  return shape;
}

}  // namespace

void fail(const std::string& message) { throw eph::Failure(EPH_INVALID_GRAPH, message); }

Shape shape_of(const eph::Inference& node, uint32_t input) {
  if (!node.has_input(input)) return std::nullopt;
  const eph::ValueView value = node.input(input);
  if (!value.has_rank()) return std::nullopt;
  const eph::ArrayView<eph_string> symbols = node.dim_names(input);
  Extents shape;
  for (std::size_t d = 0; d < value.shape().size(); ++d) {
    shape.push_back({value.shape()[d], symbols.empty() ? eph_string{} : symbols[d]});
  }
  return shape;
}

int32_t type_of(const eph::Inference& node, uint32_t input) {
  return node.has_input(input) ? node.input(input).element_type() : int32_t{EPH_ELEMENT_UNDEFINED};
}

void set(eph::Inference& node, uint32_t output, int32_t type, const Shape& shape) {
  if (!shape) return node.set_output(output, type);
  std::vector<int64_t> extents;
  std::vector<eph_string> symbols;
  for (const Extent& extent : *shape) {
    extents.push_back(extent.count);
    symbols.push_back(extent.is_known() ? eph_string{} : extent.symbol);
  }
  node.set_output(output, type, eph::ArrayView<int64_t>(extents),
                  eph::ArrayView<eph_string>(symbols));
}

void set_optional(eph::Inference& node, uint32_t output, int32_t type, const Shape& shape) {
  if (node.node().output(output) != EPH_NONE) set(node, output, type, shape);
}

std::string to_text(const Extents& shape) {
  std::string text;
  for (const Extent& extent : shape) {
    if (!text.empty()) text += ',';
    if (extent.is_known()) {
      text += std::to_string(extent.count);
    } else {
      text += extent.symbol.size > 0 ? std::string(eph::view(extent.symbol)) : "?";
    }
  }
  return "[" + text + "]";
}

void check_rank(const Shape& shape, std::initializer_list<std::size_t> ranks,
                std::string_view name) {
  if (!shape || std::find(ranks.begin(), ranks.end(), shape->size()) != ranks.end()) return;
  std::string allowed;
  for (const std::size_t rank : ranks) {
    allowed += (allowed.empty() ? "" : " or ") + std::to_string(rank);
  }
  fail("input '" + std::string(name) + "' of shape " + to_text(*shape) + " does not have rank " +
       allowed);
}

void check_vector(const Shape& shape, const Extent& count, std::string_view name) {
  if (!shape || !are_known(*shape) || !count.is_known()) return;
  check_size(*shape);
  if (element_count(counts(*shape)) == count.count) return;
  fail("input '" + std::string(name) + "' of shape " + to_text(*shape) + " does not have " +
       std::to_string(count.count) + " elements");
}

void check_scalar(const Shape& shape, std::string_view name) {
  check_vector(shape, known(1), name);
}

Extent same(const Extent& a, const Extent& b, std::string_view what) {
  if (a.is_known() && b.is_known() && a.count != b.count) {
    fail(std::string(what) + " differ: " + std::to_string(a.count) + " and " +
         std::to_string(b.count));
  }
  if (a.is_known()) return a;
  return b.is_known() || a.symbol.size == 0 ? b : a;
}

Extent sum(const Extent& a, const Extent& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  if (!a.is_known() || !b.is_known()) return {};
  return known(checked_add(a.count, b.count));
}

Extent product(const Extent& a, const Extent& b) {
  if (a.count == 1) return b;
  if (b.count == 1) return a;
  if (!a.is_known() || !b.is_known()) return {};
  return known(checked_multiply(a.count, b.count));
}

Extent quotient(const Extent& a, int64_t b, std::string_view what) {
  if (b == 1 || !a.is_known()) return b == 1 ? a : Extent{};
  if (b < 1 || a.count % b != 0) {
    fail(std::string(what) + " of " + std::to_string(a.count) + " cannot be divided into " +
         std::to_string(b) + " parts");
  }
  return known(a.count / b);
}

Shape broadcast(const Shape& a, const Shape& b) {
  if (!a || !b) return std::nullopt;
  const std::size_t rank = std::max(a->size(), b->size());
  Extents joined;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto extent = [&](const Extents& of) {
      return d + of.size() < rank ? known(1) : of[d + of.size() - rank];
    };
    joined.push_back(broadcast_extent(extent(*a), extent(*b)));
  }
  return joined;
}

Shape matmul(Shape a, Shape b) {
  if (!a || !b) return std::nullopt;
  if (a->empty() || b->empty()) fail("a scalar cannot be multiplied as a matrix");
  const bool a_is_row = a->size() == 1;
  const bool b_is_column = b->size() == 1;
  if (a_is_row) a->insert(a->begin(), known(1));
  if (b_is_column) b->push_back(known(1));
  (void)same(a->back(), (*b)[b->size() - 2], "the inner dimensions of A and B");
  const Extent rows = (*a)[a->size() - 2];
  const Extent columns = b->back();
  a->resize(a->size() - 2);
  b->resize(b->size() - 2);
  Shape y = broadcast(a, b);
  if (!a_is_row) y->push_back(rows);
  if (!b_is_column) y->push_back(columns);
  return y;
}

std::size_t axis_of(int64_t axis, std::size_t rank) {
  const auto extent = static_cast<int64_t>(rank);
  if (axis < -extent || axis >= extent) {
    fail("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + extent : axis);
}

Extents slide(const eph::NodeView& node, const Extents& spatial, const Extents& kernel) {
  const WindowAttributes attributes(node);
  Dims window = attributes.kernel_shape();
  if (!kernel.empty()) {
    if (!are_known(kernel)) return Extents(spatial.size());
    if (!window.empty() && !(window == counts(kernel))) {
      fail("kernel_shape " + to_string(window) + " differs from W's window " + to_text(kernel));
    }
    window = counts(kernel);
  }
  if (!are_known(spatial)) return Extents(spatial.size());
  Extents out;
  for (const int64_t extent : attributes.resolve(window, counts(spatial)).output) {
    out.push_back(known(extent));
  }
  return out;
}

Shape convolution(const eph::NodeView& node, const Shape& x, const Shape& weights,
                  bool channels_last) {
  if (!x || !weights) return std::nullopt;
  check_size(*weights);
  if (x->size() != weights->size()) {
    fail("X " + to_text(*x) + " and W " + to_text(*weights) + " differ in rank");
  }
  Image image = image_of(*x, channels_last);
  const int64_t groups = node.get_int("group", 1);
  if (groups < 1) fail("attribute group=" + std::to_string(groups) + " is not positive");
  (void)quotient((*weights)[0], groups, "the output channels");
  (void)same(quotient(image.channels, groups, "the channels of X"), (*weights)[1],
             "the channels of X in a group and of W");
  image.spatial = slide(node, image.spatial, Extents(weights->begin() + 2, weights->end()));
  image.channels = (*weights)[0];
  return shape_of_image(std::move(image), channels_last);
}

Shape pool(const eph::NodeView& node, const Shape& x, bool channels_last) {
  if (!x) return std::nullopt;
  Image image = image_of(*x, channels_last);
  image.spatial = slide(node, image.spatial, {});
  return shape_of_image(std::move(image), channels_last);
}

}  // namespace ephost_cpu::infer
