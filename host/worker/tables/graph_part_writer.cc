#include "host/worker/tables/graph_part_writer.h"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace ephost::worker {

GraphPartWriter::GraphPartWriter(std::string& plain, wire::GraphPart& out, size_t nodes,
                                 size_t values)
    : plain_(plain), part_(out) {
  const PlainPart part = {static_cast<uint32_t>(nodes), static_cast<uint32_t>(values)};
  const PlainList placed = array(&part, 1);
  out.set_offset(placed.offset);
  next_node_ = placed.offset + sizeof(part);
  next_value_ = next_node_ + nodes * sizeof(PlainNode);
  plain_.resize(next_value_ + values * sizeof(PlainValueInfo));
}

void GraphPartWriter::add(const PlainNode& node) {
  std::memcpy(plain_.data() + next_node_, &node, sizeof(node));
  next_node_ += sizeof(node);
}

void GraphPartWriter::add(const PlainValueInfo& value) {
  std::memcpy(plain_.data() + next_value_, &value, sizeof(value));
  next_value_ += sizeof(value);
}

PlainList GraphPartWriter::texts(const eph_string* texts, uint64_t count) {
  std::vector<PlainList> lists;
  for (uint64_t i = 0; texts != nullptr && i < count; ++i) lists.push_back(text(texts[i]));
  return array(lists.data(), lists.size());
}

wire::Rare& GraphPartWriter::add_rare(uint32_t& number) {
  wire::Rare& added = *part_.add_rare();
  number = static_cast<uint32_t>(part_.rare_size());
  return added;
}

PlainList GraphPartWriter::append(const void* values, uint64_t count, size_t size,
                                  size_t alignment) {
  const size_t offset = (plain_.size() + alignment - 1) / alignment * alignment;
  constexpr size_t kLimit = std::numeric_limits<uint32_t>::max();
  if (offset > kLimit || count > (kLimit - offset) / size) {
    throw std::length_error("a graph whose description is larger than 4 GiB");
  }
  const PlainList list = {static_cast<uint32_t>(offset), static_cast<uint32_t>(count)};
  if (count == 0) return list;
  plain_.resize(offset);
  plain_.append(static_cast<const char*>(values), static_cast<size_t>(count) * size);
  return list;
}

}  // namespace ephost::worker
