// Nodes and values that came with a message, as records of the plugin interface.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "host/worker/program/call_state.h"
#include "host/worker/protocol/messages.pb.h"
#include "host/worker/protocol/plain_graph.h"
#include "host/worker/protocol/storage.h"

namespace ephost::worker {

class ServedGraph;

// Borrows the part, and the data that it is in, which live as long as what is read from them.
class GraphPart {
 public:
  GraphPart(const wire::GraphPart& part, const char* plain) : part_(part), plain_(plain) {}

  [[nodiscard]] std::span<const PlainNode> nodes() const;
  [[nodiscard]] std::span<const PlainValueInfo> values() const;
  [[nodiscard]] eph_string text(PlainList list) const { return {array<char>(list), list.count}; }

  // Records that live as long as `storage`, too. Bodies of the node are appended to `bodies`.
  [[nodiscard]] Result<eph_node_info> read(CallState& call, const PlainNode& node, Storage& storage,
                                           std::vector<std::unique_ptr<ServedGraph>>& bodies) const;
  // `known_as`: by which the host is asked for the data of a constant that the message lacks.
  [[nodiscard]] Result<eph_value_info> read(CallState& call, const PlainValueInfo& value,
                                            Storage& storage, const GraphValue* known_as) const;

 private:
  template <class T>
  [[nodiscard]] const T* array(PlainList list) const {
    return reinterpret_cast<const T*>(plain_ + list.offset);
  }
  [[nodiscard]] eph_string* texts(PlainList list, Storage& storage) const;
  [[nodiscard]] eph_type read(const PlainType& type, Storage& storage) const;
  Result<eph_attribute> read(CallState& call, const PlainAttribute& attribute, Storage& storage,
                             std::vector<std::unique_ptr<ServedGraph>>& bodies) const;

  [[nodiscard]] uint32_t offset() const { return static_cast<uint32_t>(part_.offset()); }

  const wire::GraphPart& part_;
  const char* const plain_;
};

}  // namespace ephost::worker
