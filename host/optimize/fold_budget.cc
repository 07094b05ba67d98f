#include "host/optimize/fold_budget.h"

#include <variant>

#include "host/base/checked_math.h"
#include "host/graph/subgraphs.h"

namespace ephost::optimize {
namespace {

const void* address_of(const graph::Tensor& tensor) {
  if (tensor.strings) return tensor.strings.get();
  return tensor.data.bytes.data();
}

}  // namespace

uint64_t stored_bytes(const graph::Tensor& tensor) {
  uint64_t bytes = tensor.data.bytes.size();
  if (tensor.strings) {
    for (const std::string& element : *tensor.strings) bytes += sizeof(element) + element.size();
  }
  return bytes;
}

void FoldBudget::recount(const graph::Graph& graph) {
  const uint64_t before = bytes_;
  buffers_.clear();
  bytes_ = 0;
  add_all(graph);
  if (bytes_ > before) own_bytes_ += bytes_ - before;
}

void FoldBudget::add_all(const graph::Graph& graph) {
  for (const graph::Tensor& tensor : graph.initializers) add(tensor);
  for (const graph::Node& node : graph.nodes) {
    if (node.op_type == "Constant") {
      if (const auto* value = node.attribute("value")) {
        if (const auto* tensor = std::get_if<graph::Tensor>(value)) add(*tensor);
      }
    }
    graph::for_each_subgraph(node, [this](const graph::Graph& subgraph) { add_all(subgraph); });
  }
}

void FoldBudget::add(const graph::Tensor& tensor) {
  Buffer& buffer = buffers_[address_of(tensor)];
  if (buffer.uses++ > 0) return;
  buffer.bytes = stored_bytes(tensor);
  bytes_ += buffer.bytes;
}

void FoldBudget::remove(const graph::Tensor& tensor) {
  const auto found = buffers_.find(address_of(tensor));
  if (found == buffers_.end() || --found->second.uses > 0) return;
  bytes_ -= found->second.bytes;
  buffers_.erase(found);
}

uint64_t FoldBudget::bytes_of(const graph::Tensor& tensor) const {
  const auto found = buffers_.find(address_of(tensor));
  return found == buffers_.end() || found->second.uses > 1 ? 0 : found->second.bytes;
}

uint64_t FoldBudget::bytes_left() const {
  const uint64_t limit = checked_add(own_bytes_, limits_.max_bytes).value_or(UINT64_MAX);
  return limit > bytes_ ? limit - bytes_ : 0;
}

}  // namespace ephost::optimize
