#include "host/onnx_io/export/external_layout.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/graph/subgraphs.h"

namespace ephost::onnx_io {

namespace fs = std::filesystem;

namespace {

class LayoutBuilder {
 public:
  explicit LayoutBuilder(const ExportOptions& options) : options_(options) {}

  Status add(const graph::Graph& graph) {
    // Initializers without a value are not written.
    std::vector<const graph::Value*> values(graph.initializers.size(), nullptr);
    for (const graph::Value& value : graph.values) {
      if (value.initializer != graph::kNoInitializer) values[value.initializer] = &value;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const graph::Tensor& tensor = graph.initializers[i];
      if (values[i] == nullptr || tensor.data.bytes.empty()) continue;
      EPHOST_RETURN_IF_ERROR(add(values[i]->name, tensor));
    }
    Status status;
    for (const graph::Node& node : graph.nodes) {
      graph::for_each_subgraph(node, [&](const graph::Graph& subgraph) {
        if (status.ok()) status = add(subgraph);
      });
    }
    return status;
  }

  ExternalLayout take() && { return std::move(layout_); }

 private:
  Status add(std::string_view name, const graph::Tensor& tensor) {
    if (const auto outside = options_.outside.find(&tensor); outside != options_.outside.end()) {
      layout_.ranges.emplace(
          &tensor, ExternalRange{.location = outside->second, .size = tensor.data.bytes.size()});
      return Status::ok_status();
    }
    const bool has_file = !options_.external_file_name.empty();
    Placement placement = has_file ? Placement::kExternal : Placement::kEmbedded;
    if (options_.placement) {
      EPHOST_ASSIGN_OR_RETURN(placement, options_.placement(name, tensor));
    }
    switch (placement) {
      case Placement::kEmbedded:
        return Status::ok_status();
      case Placement::kExternal:
        if (!has_file) return impossible(name, "be external", "no external file is named");
        add_external(tensor);
        return Status::ok_status();
      case Placement::kOriginal:
        if (!tensor.external)
          return impossible(name, "stay where it is", "its data is not in a file");
        return add_original(name, tensor, *tensor.external);
    }
    return Status::ok_status();
  }

  Status add_original(std::string_view name, const graph::Tensor& tensor,
                      const graph::ExternalLocation& original) {
    std::string location = original.location;
    if (!options_.folder.empty()) {
      const fs::path relative = original.path.lexically_relative(options_.folder);
      if (relative.empty() || *relative.begin() == "..") {
        return impossible(
            name, "stay where it is",
            formatted("{} does not lie below the model's folder {}", quote(original.path.native()),
                      quote(options_.folder.native())));
      }
      location = relative.native();
    }
    if (location == options_.external_file_name) {
      return impossible(name, "stay where it is", "the external file has the name of its file");
    }
    layout_.originals.emplace(location, original.path);
    layout_.ranges.emplace(&tensor, ExternalRange{.location = std::move(location),
                                                  .offset = original.offset,
                                                  .size = original.size});
    return Status::ok_status();
  }

  static Status impossible(std::string_view name, const std::string& what, const std::string& why) {
    return {StatusCode::kInvalidArgument,
            formatted("initializer {} is to {}, but {}", quote(name), what, why)};
  }

  void add_external(const graph::Tensor& tensor) {
    const uint64_t size = tensor.data.bytes.size();
    const auto [known, is_new] = offsets_.emplace(std::pair(tensor.data.bytes.data(), size), 0);
    if (is_new) {
      pad_to(size >= options_.large_size ? options_.large_alignment : options_.small_alignment);
      known->second = layout_.file.size;
      append(tensor.data);
    }
    layout_.ranges.emplace(&tensor, ExternalRange{.location = options_.external_file_name,
                                                  .offset = known->second,
                                                  .size = size});
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

Result<ExternalLayout> lay_out_initializers(const graph::Graph& graph,
                                            const ExportOptions& options) {
  LayoutBuilder builder(options);
  EPHOST_RETURN_IF_ERROR(builder.add(graph));
  return std::move(builder).take();
}

}  // namespace ephost::onnx_io
