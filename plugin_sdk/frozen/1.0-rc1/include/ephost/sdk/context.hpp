// context.hpp: the partitions of a compile call, and the writer of the EP context cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <string_view>

namespace eph {

// The partitions of one compile call.
class Partitions {
 public:
  Partitions(const eph_partition* first, uint64_t stride, uint64_t count)
      : first_(first), stride_(stride), count_(count) {}
  [[nodiscard]] std::size_t size() const { return count_; }
  const eph_partition& operator[](std::size_t i) const {
    return *reinterpret_cast<const eph_partition*>(reinterpret_cast<const char*>(first_) +
                                                   i * stride_);
  }

 private:
  const eph_partition* first_;
  uint64_t stride_;
  uint64_t count_;
};

// The constants that stayed outside of a payload, in the order in which its node listed them. They
// live as long as the computation that is made from it.
[[nodiscard]] inline ArrayView<eph_named_value> outside_constants(const eph_ep_context& context) {
  return {context.constants, static_cast<std::size_t>(context.constant_count)};
}

class ContextWriter {
 public:
  explicit ContextWriter(eph_context_writer* writer) : writer_(writer) {}

  // `compatibility`: what this payload depends on; empty: the provider's own text.
  [[nodiscard]] uint32_t begin_payload(std::string_view compatibility = {}) {
    uint32_t payload = EPH_NONE;
    detail::ThrowingError error;
    error.check(writer_->api->begin_payload(writer_, to_abi(compatibility), &payload, &error));
    return payload;
  }
  void write(uint32_t payload, const void* data, std::size_t size) {
    detail::ThrowingError error;
    error.check(writer_->api->write(writer_, payload, data, size, &error));
  }
  // `constants`: the names of constants that the payload does not contain.
  void add_node(eph_context_node node, ArrayView<eph_string> constants = {}) {
    node.struct_size = sizeof(node);
    if (!constants.empty()) {
      node.constants = constants.data();
      node.constant_count = constants.size();
    }
    detail::ThrowingError error;
    error.check(writer_->api->add_node(writer_, &node, &error));
  }

 private:
  eph_context_writer* writer_;
};

}  // namespace eph
