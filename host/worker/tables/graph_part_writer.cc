#include "host/worker/tables/graph_part_writer.h"

#include <stdexcept>

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
  const PlainList lists = entries<PlainList>(texts == nullptr ? 0 : count);
  for (uint64_t i = 0; i < lists.count; ++i) set(lists, i, text(texts[i]));
  return lists;
}

wire::Rare& GraphPartWriter::add_rare(uint32_t& number) {
  wire::Rare& added = *part_.add_rare();
  number = static_cast<uint32_t>(part_.rare_size());
  return added;
}

void GraphPartWriter::refuse_size() {
  throw std::length_error("a graph whose description is larger than 4 GiB");
}

}  // namespace ephost::worker
