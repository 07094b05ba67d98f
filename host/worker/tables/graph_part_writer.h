// A writer of the nodes and values of graphs as plain data.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
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
  // Entries that `set` fills in one by one; those before may refer to data that comes after them.
  template <class T>
  PlainList entries(uint64_t count) {
    static_assert(alignof(T) <= 8);
    return append(nullptr, count, sizeof(T), alignof(T));
  }
  template <class T>
  void set(PlainList list, uint64_t index, const T& entry) {
    std::memcpy(plain_.data() + list.offset + index * sizeof(T), &entry, sizeof(T));
  }

  // An entry of `rare`, whose number for a record is `number`.
  wire::Rare& add_rare(uint32_t& number);

 private:
  // Without values: zeros.
  PlainList append(const void* values, uint64_t count, size_t size, size_t alignment) {
    if (count == 0) return {};
    const size_t offset = (plain_.size() + alignment - 1) & ~(alignment - 1);
    constexpr size_t kLimit = std::numeric_limits<uint32_t>::max();
    if (offset > kLimit || count > kLimit || count * size > kLimit - offset) refuse_size();
    const PlainList list = {static_cast<uint32_t>(offset), static_cast<uint32_t>(count)};
    plain_.resize(offset + count * size);
    if (values != nullptr) std::memcpy(plain_.data() + offset, values, count * size);
    return list;
  }
  [[noreturn]] static void refuse_size();

  std::string& plain_;
  wire::GraphPart& part_;
  size_t next_node_;  // where it goes
  size_t next_value_;
};

}  // namespace ephost::worker
