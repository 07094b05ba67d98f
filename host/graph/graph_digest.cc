#include "host/graph/graph_digest.h"

#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ephost::graph {
namespace {

// Writes numbers with a fixed size, and everything else behind its size, so that no two graphs give
// the same text. Structs are taken apart by structured bindings: a change that adds a member does
// not compile until it is decided here whether providers can see it.
class Serializer {
 public:
  Serializer(const Model& model, const Cancellation& cancellation, DataChecksums& checksums)
      : model_(model), cancellation_(cancellation), checksums_(checksums) {}

  [[nodiscard]] const std::string& text() const { return text_; }
  // Then the text is useless, and so are the checksums.
  [[nodiscard]] bool is_cancelled() const { return is_cancelled_; }

  void put(std::string_view text) {
    put(uint64_t{text.size()});
    text_ += text;
  }
  void put(const std::string& text) { put(std::string_view(text)); }

  void put(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) text_ += static_cast<char>(number >> shift & 0xff);
  }
  void put(int64_t number) { put(static_cast<uint64_t>(number)); }
  void put(uint32_t number) { put(uint64_t{number}); }
  void put(int32_t number) { put(int64_t{number}); }
  void put(bool flag) { put(uint64_t{flag}); }
  void put(float number) { put(std::bit_cast<uint32_t>(number)); }
  void put(ElementType type) { put(static_cast<int64_t>(type)); }
  void put(ValueKind kind) { put(static_cast<uint64_t>(kind)); }

  template <class Element>
  void put(const std::vector<Element>& list) {
    put(uint64_t{list.size()});
    for (const Element& element : list) put(element);
  }
  template <class First, class Second>
  void put(const std::pair<First, Second>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <class Key, class Mapped>
  void put(const std::map<Key, Mapped>& map) {
    put(uint64_t{map.size()});
    for (const auto& entry : map) put(entry);
  }

  void put(const Model& model) {
    // A provider sees a graph, and of its model what ONNX text of that graph needs; the names of
    // symbols are written where they are used.
    put(model.ir_version);
    put(model.opset_imports);
    put(model.metadata);
    put(model.functions);
  }

  void put(const Function& function) {
    const auto& [domain, name, overload, serialized] = function;
    put(domain);
    put(name);
    put(overload);
    put_data(std::as_bytes(std::span(serialized.data(), serialized.size())));
  }

  void put(const Graph& graph) {
    const auto& [name, doc, nodes, values, inputs, outputs, initializers, annotations] = graph;
    put(name);
    put(doc);
    put(nodes);
    put(values);
    put(inputs);
    put(outputs);
    put(initializers);
    put(annotations);
  }

  void put(const Node& node) {
    const auto& [name, op_type, domain, overload, since_version, is_of_other_opset, inputs, outputs,
                 attributes, implicit_inputs, kept_constants, metadata] = node;
    put(name);
    put(op_type);
    put(domain);
    put(overload);
    put(since_version);
    put(is_of_other_opset);
    put(inputs);
    put(outputs);
    put(attributes);
    put(implicit_inputs);
    put(kept_constants);
    put(metadata);
  }

  void put(const Attribute& attribute) {
    const auto& [name, value] = attribute;
    put(name);
    put(uint64_t{value.index()});
    std::visit([this](const auto& held) { put(held); }, value);
  }

  void put(const Value& value) {
    // Producer and consumers follow from the nodes; who says what the type is makes no difference.
    const auto& [name, type, declared, producer, consumers, initializer, outer, is_graph_input,
                 is_graph_output] = value;
    put(name);
    put(type);
    put(initializer);
    put(outer);
    put(is_graph_input);
    put(is_graph_output);
  }

  void put(const ValueType& type) {
    const auto& [kind, element, shape, nested] = type;
    put(kind);
    put(element);
    put(shape.has_value());
    if (shape) put_dims(*shape);
    put(nested != nullptr);
    if (nested) put(*nested);
  }

  void put(const QuantizationAnnotation& annotation) {
    const auto& [value, parameters] = annotation;
    put(value);
    put(parameters);
  }

  void put(const Tensor& tensor) {
    // Where the data lies makes no difference.
    const auto& [type, shape, data, strings, external] = tensor;
    put(type);
    put_dims(shape);
    put(strings != nullptr);
    if (strings) return put(*strings);
    put(data);
  }

  void put(const SparseTensor& sparse) {
    const auto& [values, indices, shape] = sparse;
    put(values);
    put(indices);
    put_dims(shape);
  }

  void put(const Blob& blob) { put_data(blob.bytes); }

  void put(const std::unique_ptr<Graph>& graph) {
    put(graph != nullptr);
    if (graph) put(*graph);
  }

 private:
  void put_dims(const Shape& shape) {
    put(uint64_t{shape.size()});
    for (const int64_t dim : shape) {
      // All symbols are one number here; their names tell them apart.
      put(is_symbolic_dim(dim) ? int64_t{-2} : dim);
      if (is_symbolic_dim(dim)) put(model_.symbols[dim_symbol(dim)]);
    }
  }

  void put_data(std::span<const std::byte> bytes) {
    const auto [known, is_new] = checksums_.try_emplace({bytes.data(), bytes.size()});
    if (is_new) {
      const std::optional<Hash128> checksum = content_checksum(bytes, cancellation_);
      is_cancelled_ = is_cancelled_ || !checksum;
      known->second = checksum.value_or(Hash128());
    }
    put(uint64_t{bytes.size()});
    put(known->second.high);
    put(known->second.low);
  }

  const Model& model_;
  const Cancellation& cancellation_;
  DataChecksums& checksums_;
  std::string text_;
  bool is_cancelled_ = false;
};

}  // namespace

Result<std::string> GraphDigester::digest(const Graph& graph, std::string_view maker) {
  Serializer serializer(model_, cancellation_, checksums_);
  serializer.put(maker);
  serializer.put(model_);
  serializer.put(graph);
  if (serializer.is_cancelled()) {
    checksums_.clear();
    return cancellation_.check().with_context("computing the digest of a graph");
  }
  const std::string& text = serializer.text();
  return sha256_of(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace ephost::graph
