// Copies of the answers of a graph to a plugin, which become unusable when the graph ends.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "host/layers/validate/finding.h"
#include "host/layers/validate/lent/arena.h"
#include "host/layers/validate/lent/constant_checksums.h"

namespace ephost::layers {

// May be used by any thread.
class GraphCopies {
 public:
  // `name` as in Arena. `wrap` gives the object that stands for the body of a node, which lives as
  // long as these copies.
  using Wrap = std::function<const eph_graph*(const eph_graph*)>;
  GraphCopies(Guard guard, std::string name, Wrap wrap)
      : arena_(guard, std::move(name)), wrap_(std::move(wrap)) {}

  // Each returns a copy of what the host has filled, with all that it points to but for the data of
  // tensors. The copy of an index is made once. Throw std::bad_alloc if memory runs out.
  eph_graph_info graph(const eph_graph_info& given);
  eph_node_info node(uint32_t index, const eph_node_info& given);
  eph_value_info value(uint32_t index, const eph_value_info& given);

  // A copy of the bytes of get_onnx.
  eph_bytes onnx(eph_bytes given);

  // When the graph ends. The constants, and tensors in attributes, that have changed since the
  // plugin learned of them.
  [[nodiscard]] std::vector<Finding> findings();
  // The constants that the plugin has learned of.
  [[nodiscard]] ConstantChecksums constants() const;
  void poison() noexcept;
  [[nodiscard]] size_t bytes() const;

 private:
  const eph_string* copy_texts(const eph_string* texts, uint64_t count);
  const eph_key_value* copy_pairs(const eph_key_value* pairs, uint64_t count);
  const eph_attribute* copy_attributes(const eph_attribute* attributes, uint64_t count);
  const eph_value* copy_values(const eph_value* values, uint64_t count);
  const eph_type* copy_type(const eph_type* type);

  mutable std::mutex mutex_;
  Arena arena_;
  const Wrap wrap_;
  std::map<uint32_t, eph_node_info> nodes_;
  std::map<uint32_t, eph_value_info> values_;
  std::map<uint32_t, eph_graph_info> graph_;  // none or one
  std::map<const void*, eph_bytes> onnx_;
  ConstantChecksums constants_;
  ConstantChecksums attributes_;  // tensors, which end with the graph
};

}  // namespace ephost::layers
