// Models and context models for the tests of host/context.
//
//   x --Add(w1)--> a --Relu--> b --Mul(w2)--> c --Add(w3)--> d --Relu--> y
//       `----- first ------'                    `----- second -----'
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/files/file.h"
#include "host/context/ep_context_node.h"
#include "host/context/read/loader.h"
#include "host/context/write/writer.h"
#include "host/graph/connect.h"
#include "host/onnx_io/import/import.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::context::testing {

using graph::testing::GraphBuilder;

inline constexpr std::string_view kSource = "TestExecutionProvider";

inline graph::ValueType vector_type() {
  return graph::testing::tensor_type(graph::ElementType::kFloat, graph::Shape{4});
}

inline graph::Tensor four(float value) {
  return graph::testing::float_tensor({value, value, value, value});
}

inline graph::Model wrap(graph::Graph graph) {
  graph.name = "sample";
  return {.graph = std::move(graph), .ir_version = 8, .opset_imports = {{"", 13}}};
}

inline graph::Model sample_model() {
  graph::Model model = wrap(GraphBuilder()
                                .input("x", vector_type())
                                .constant("w1", four(1))
                                .constant("w2", four(2))
                                .constant("w3", four(3))
                                .node("Add", {"x", "w1"}, {"a"})
                                .node("Relu", {"a"}, {"b"})
                                .node("Mul", {"b", "w2"}, {"c"})
                                .node("Add", {"c", "w3"}, {"d"})
                                .node("Relu", {"d"}, {"y"})
                                .output("y")
                                .build());
  for (graph::Value& value : model.graph.values) value.type = vector_type();
  return model;
}

inline WrittenPartition partition_of(const graph::Graph& graph, std::string name,
                                     std::vector<graph::NodeId> nodes, std::string_view input,
                                     std::string_view output, uint32_t payload = 0) {
  return {.nodes = std::move(nodes),
          .inputs = {graph.find_value(input)},
          .outputs = {graph.find_value(output)},
          .name = std::move(name),
          .payload = payload,
          .source = std::string(kSource),
          .sdk_version = "sdk 1.2",
          .hardware_architecture = "avx2",
          .notes = "a note",
          .max_size = 7};
}

// `first` and `second` of the sample model, in one payload.
inline std::vector<WrittenPartition> sample_partitions(const graph::Graph& graph) {
  return {partition_of(graph, "first", {0, 1}, "x", "b"),
          partition_of(graph, "second", {3, 4}, "c", "y")};
}

// Writes the sample model with one payload of the provider `test`.
inline Result<WrittenContext> write_sample(const WriteOptions& options,
                                           std::string_view payload = "payload") {
  EPHOST_ASSIGN_OR_RETURN(ContextWriter writer, ContextWriter::create(options));
  EPHOST_ASSIGN_OR_RETURN(const uint32_t number, writer.begin_payload("test"));
  EPHOST_RETURN_IF_ERROR(writer.append(number, as_bytes(payload)));
  graph::Model model = sample_model();
  const std::vector<WrittenPartition> partitions = sample_partitions(model.graph);
  return std::move(writer).finish(std::move(model), partitions,
                                  {{std::string(kSource), "works with 1.2"}});
}

inline std::string text_of(const graph::Blob& blob) {
  const void* data = blob.bytes.data();
  return std::string(static_cast<const char*>(data), blob.bytes.size());
}

inline graph::Blob blob_of(std::string_view text) {
  const std::span<const std::byte> bytes = as_bytes(text);
  return graph::make_blob({bytes.begin(), bytes.end()});
}

inline std::string content_of(const std::filesystem::path& path) {
  const Result<std::string> content = read_file(path);
  return content.ok() ? *content : content.status().to_string();
}

// File names in a folder, sorted.
inline std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().native());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A loaded context, and the model that it points into.
struct Loaded {
  std::unique_ptr<graph::Model> model;
  LoadedContext context;

  // The payload of the partition of that name, or the reason why there is none.
  [[nodiscard]] std::string payload_of(std::string_view partition_name) const {
    for (const CachedPartition& partition : context.partitions) {
      if (partition.attributes.partition_name == partition_name) {
        return text_of(context.payloads[partition.payload].bytes);
      }
    }
    return "no partition";
  }
};

// Imports and loads as a session does.
inline Result<Loaded> load_file(const std::filesystem::path& path) {
  Loaded loaded;
  LoadOptions options{.folder = path.parent_path()};
  options.files = find_superseded_initializers(path, options);
  EPHOST_ASSIGN_OR_RETURN(graph::Model model,
                          onnx_io::import_model(path, {.external_files = options.files}));
  loaded.model = std::make_unique<graph::Model>(std::move(model));
  EPHOST_ASSIGN_OR_RETURN(loaded.context, load_context(*loaded.model, options));
  return loaded;
}

// A model that is a chain of these EPContext nodes, in this order.
inline graph::Model model_of(std::vector<EpContextNode> nodes) {
  GraphBuilder builder;
  builder.input("v0", vector_type());
  graph::Graph graph = builder.build();
  for (EpContextNode& attributes : nodes) {
    graph::Node node = make_ep_context_node(std::move(attributes));
    node.inputs = {static_cast<graph::ValueId>(graph.values.size() - 1)};
    node.outputs = {graph.add_value(
        {.name = "v" + std::to_string(graph.values.size()), .type = vector_type()})};
    graph.add_node(std::move(node));
  }
  graph.outputs = {static_cast<graph::ValueId>(graph.values.size() - 1)};
  graph::connect(graph);
  graph::Model model = wrap(std::move(graph));
  model.opset_imports["com.microsoft"] = 1;
  return model;
}

inline EpContextNode file_node(std::string partition_name, std::string file) {
  return {.embedded = false,
          .reference = std::move(file),
          .partition_name = std::move(partition_name),
          .source = std::string(kSource)};
}

inline EpContextNode embedded_node(std::string partition_name, std::string_view payload) {
  return {.payload = blob_of(payload),
          .partition_name = std::move(partition_name),
          .source = std::string(kSource)};
}

inline EpContextNode secondary_node(std::string partition_name, std::string primary) {
  return {.main_context = false,
          .embedded = false,
          .reference = std::move(primary),
          .partition_name = std::move(partition_name),
          .source = std::string(kSource)};
}

}  // namespace ephost::context::testing
