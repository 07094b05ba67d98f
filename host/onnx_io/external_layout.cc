#include "host/onnx_io/external_layout.h"

#include <functional>
#include <map>
#include <utility>

#include "host/graph/subgraphs.h"

namespace ephost::onnx_io {
namespace {

class LayoutBuilder {
 public:
  explicit LayoutBuilder(const ExportOptions& options) : options_(options) {
    layout_.file_name = options.external_file_name;
  }

  void add(const graph::Graph& graph) {
    for (const graph::Tensor& tensor : graph.initializers) {
      if (!tensor.data.bytes.empty()) add(tensor);
    }
    for (const graph::Node& node : graph.nodes) {
      graph::for_each_subgraph(node, [&](const graph::Graph& subgraph) { add(subgraph); });
    }
  }

  ExternalLayout take() && { return std::move(layout_); }

 private:
  void add(const graph::Tensor& tensor) {
    const uint64_t size = tensor.data.bytes.size();
    const auto [known, is_new] = offsets_.emplace(std::pair(tensor.data.bytes.data(), size), 0);
    if (is_new) {
      pad_to(size >= options_.large_size ? options_.large_alignment : options_.small_alignment);
      known->second = layout_.file.size;
      append(tensor.data);
    }
    layout_.ranges.emplace(&tensor, ExternalRange{.offset = known->second, .size = size});
  }

  void pad_to(uint64_t alignment) {
    const uint64_t excess = layout_.file.size % alignment;
    if (excess > 0) append(graph::make_blob(std::vector<std::byte>(alignment - excess)));
  }

  void append(graph::Blob part) {
    layout_.file.size += part.bytes.size();
    layout_.file.parts.push_back(std::move(part));
  }

  const ExportOptions& options_;
  ExternalLayout layout_;
  std::map<std::pair<const std::byte*, uint64_t>, uint64_t> offsets_;  // by address and size
};

}  // namespace

const ExternalRange* ExternalLayout::find(const graph::Tensor& tensor) const {
  const auto found = ranges.find(&tensor);
  return found == ranges.end() ? nullptr : &found->second;
}

ExternalLayout lay_out_initializers(const graph::Graph& graph, const ExportOptions& options) {
  LayoutBuilder builder(options);
  builder.add(graph);
  return std::move(builder).take();
}

}  // namespace ephost::onnx_io
