// Shapes during inference: extents that may be unknown or have a symbol, and the rules that
// operators of com.microsoft share. What cannot be right throws INVALID_GRAPH; what is unknown
// leaves the result unknown.
#pragma once

#include <cstdint>
#include <ephost/sdk/operators.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ephost_cpu::infer {

struct Extent {
  int64_t count = -1;      // -1: unknown before the run
  eph_string symbol = {};  // empty: none

  [[nodiscard]] bool is_known() const { return count >= 0; }
};

using Extents = std::vector<Extent>;
using Shape = std::optional<Extents>;  // nothing: unknown rank

// Throws INVALID_GRAPH with the message.
[[noreturn]] void fail(const std::string& message);

// The shape of an input; nothing if it is omitted or unknown. Symbols live until `infer` returns.
[[nodiscard]] Shape shape_of(const eph::Inference& node, uint32_t input);
// EPH_ELEMENT_UNDEFINED if it is omitted or unknown.
[[nodiscard]] int32_t type_of(const eph::Inference& node, uint32_t input);
void set(eph::Inference& node, uint32_t output, int32_t type, const Shape& shape);
// If the node has the output.
void set_optional(eph::Inference& node, uint32_t output, int32_t type, const Shape& shape);

// For messages, e.g. "[batch,3,?]".
[[nodiscard]] std::string to_text(const Extents& shape);

// Throws unless the shape may have one of these ranks.
void check_rank(const Shape& shape, std::initializer_list<std::size_t> ranks,
                std::string_view name);
// Throws unless the shape may have one element for each of `count`.
void check_vector(const Shape& shape, const Extent& count, std::string_view name);
// Throws unless the shape may have exactly one element.
void check_scalar(const Shape& shape, std::string_view name);

// What both are; throws if they are known to differ.
[[nodiscard]] Extent same(const Extent& a, const Extent& b, std::string_view what);
// a + b, a * b and a / b, unknown if one of them is. Division throws if there is a remainder.
[[nodiscard]] Extent sum(const Extent& a, const Extent& b);
[[nodiscard]] Extent product(const Extent& a, const Extent& b);
[[nodiscard]] Extent quotient(const Extent& a, int64_t b, std::string_view what);
[[nodiscard]] inline Extent known(int64_t count) { return {count, {}}; }

// As numpy defines it.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b);
[[nodiscard]] Shape matmul(Shape a, Shape b);

// `axis` counted from the front.
[[nodiscard]] std::size_t axis_of(int64_t axis, std::size_t rank);

// The spatial extents of a sliding window, by the attributes of Conv and the pools. `kernel` is
// empty where the attribute kernel_shape says it.
[[nodiscard]] Extents slide(const eph::NodeView& node, const Extents& spatial,
                            const Extents& kernel);
// What Conv gives; `channels_last` of X and Y.
[[nodiscard]] Shape convolution(const eph::NodeView& node, const Shape& x, const Shape& weights,
                                bool channels_last);
// What a pool gives.
[[nodiscard]] Shape pool(const eph::NodeView& node, const Shape& x, bool channels_last);

}  // namespace ephost_cpu::infer
