// Writes nodes and values of graphs as plain data.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/worker/protocol/messages.pb.h"
#include "host/worker/protocol/plain_graph.h"

namespace ephost::worker {

class GraphPartWriter {
 public:
  // Appends to `plain`. For exactly so many nodes and values, which are added next, in any order.
  GraphPartWriter(std::string& plain, wire::GraphPart& out, size_t nodes, size_t values);

  void add(const PlainNode& node);
  void add(const PlainValueInfo& value);

  // What records refer to. Each throws std::length_error if the data gets larger than 4 GiB.
  PlainList text(eph_string text) { return array(text.data, text.size); }
  PlainList texts(const eph_string* texts, uint64_t count);
  template <class T>
  PlainList array(const T* values, uint64_t count) {
    static_assert(alignof(T) <= 8);
    return append(values, values == nullptr ? 0 : count, sizeof(T), alignof(T));
  }

  // An entry of `rare`, whose number for a record is `number`.
  wire::Rare& add_rare(uint32_t& number);

 private:
  PlainList append(const void* values, uint64_t count, size_t size, size_t alignment);

  std::string& plain_;
  wire::GraphPart& part_;
  size_t next_node_;  // where it goes
  size_t next_value_;
};

}  // namespace ephost::worker
