#include "host/optimize/block_products.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/graph/connect.h"

namespace ephost::optimize {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::kNoNode;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::Shape;
using graph::Tensor;
using graph::ValueId;

constexpr int32_t kFirstWithBlocks = 21;  // version of DequantizeLinear
constexpr int64_t kSmallestBlock = 16;    // of MatMulNBits

// A matrix [rows, columns] of integers of 4 or 8 bits as they are in a tensor.
struct Codes {
  const std::byte* bytes;
  int64_t rows, columns;
  int bits;
  uint8_t flip;  // of the sign bit: two's complement becomes a number from 0 on

  [[nodiscard]] uint8_t at(int64_t row, int64_t column) const {
    const auto i = static_cast<size_t>(row * columns + column);
    if (bits == 8) return static_cast<uint8_t>(std::to_integer<uint8_t>(bytes[i]) ^ flip);
    const auto pair = std::to_integer<unsigned>(bytes[i / 2]);
    return static_cast<uint8_t>((pair >> i % 2 * 4 & 15U) ^ flip);
  }

  // The columns one after the other, each with its rows in the lowest bits first and zeros up to
  // `length` rows, and begun with a byte.
  [[nodiscard]] std::vector<std::byte> columns_first(int64_t length) const {
    const auto stride = static_cast<size_t>((length * bits + 7) / 8);
    std::vector<std::byte> packed(stride * static_cast<size_t>(columns));
    for (int64_t c = 0; c < columns; ++c) {
      std::byte* const column = packed.data() + static_cast<size_t>(c) * stride;
      for (int64_t r = 0; r < rows; ++r) {
        const auto bit = static_cast<size_t>(r * bits);
        column[bit / 8] |= static_cast<std::byte>(at(r, c) << bit % 8);
      }
    }
    return packed;
  }
};

// The elements of a constant matrix of 4 or 8 bits; nothing for any other tensor.
std::optional<Codes> codes_of(const Tensor* tensor) {
  if (tensor == nullptr || tensor->shape.size() != 2) return {};
  const bool is_signed = tensor->type == ElementType::kInt8 || tensor->type == ElementType::kInt4;
  if (!is_signed && tensor->type != ElementType::kUint8 && tensor->type != ElementType::kUint4) {
    return {};
  }
  const auto bits = static_cast<int>(graph::element_bits(tensor->type));
  const std::optional<int64_t> count = graph::element_count(tensor->shape);
  constexpr int64_t kLargest = int64_t{1} << 40;
  if (!count || *count < 1 || *count > kLargest) return {};
  if (tensor->data.bytes.size() < static_cast<size_t>((*count * bits + 7) / 8)) return {};
  return Codes{tensor->data.bytes.data(), tensor->shape[0], tensor->shape[1], bits,
               static_cast<uint8_t>(is_signed ? 1 << (bits - 1) : 0)};
}

// The constant inputs of MatMulNBits, and its attributes.
struct BlockWeights {
  ValueId weights = kNoValue, scales = kNoValue, zero_points = kNoValue;
  int64_t rows = 0, columns = 0, bits = 0, block = 0;
};

class BlockProducts {
 public:
  BlockProducts(Graph& graph, const QuantizedOperators& options, UniqueNames& names)
      : graph_(graph), options_(options), names_(names) {}

  std::vector<NodeId> run() && {
    std::vector<NodeId> formed;
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (!is_product(id)) continue;
      const NodeId source = graph_.values[graph_.nodes[id].inputs[1]].producer;
      const std::optional<BlockWeights> weights = weights_of(source);
      if (weights) formed.push_back(replace(id, *weights));
    }
    for (const auto& [source, weights] : known_) {
      if (!weights) continue;
      Node& node = graph_.nodes[source];
      node.inputs.clear();
      node.outputs.clear();
      node.attributes.clear();
    }
    if (!formed.empty()) graph::connect(graph_);
    return formed;
  }

 private:
  // Whether the node is a product with a DequantizeLinear of blocks, and both may be replaced.
  [[nodiscard]] bool is_product(NodeId id) const {
    const Node& node = graph_.nodes[id];
    if (!options_.is_free(id) || !is_standard(node, "MatMul") || node.inputs.size() != 2) {
      return false;
    }
    if (node.inputs[0] == kNoValue || node.inputs[1] == kNoValue ||
        node.inputs[0] == node.inputs[1] || !is_float(node.inputs[0])) {
      return false;
    }
    const NodeId source = graph_.values[node.inputs[1]].producer;
    return source != kNoNode && options_.is_free(source) && is_blocked(graph_.nodes[source]);
  }
  [[nodiscard]] bool is_float(ValueId value) const {
    return graph_.values[value].type.element == ElementType::kFloat;
  }

  static bool is_blocked(const Node& node) {
    const int64_t axis = node.integer("axis").value_or(1);
    const int64_t block = node.integer("block_size").value_or(0);
    constexpr int64_t kLargest = int64_t{1} << 30;
    return is_standard(node, "DequantizeLinear") && node.since_version >= kFirstWithBlocks &&
           node.inputs.size() >= 2 && node.outputs.size() == 1 && (axis == 0 || axis == -2) &&
           block >= kSmallestBlock && block <= kLargest && (block & (block - 1)) == 0;
  }

  // The constants for the products that read the node; made once. Nothing if they cannot be
  // replaced.
  const std::optional<BlockWeights>& weights_of(NodeId source) {
    const auto [found, is_new] = known_.emplace(source, std::nullopt);
    if (is_new) found->second = make_weights(graph_.nodes[source]);
    return found->second;
  }

  std::optional<BlockWeights> make_weights(const Node& source) {
    const graph::Value& output = graph_.values[source.outputs[0]];
    if (output.is_graph_output || output.type.element != ElementType::kFloat) return {};
    if (!std::ranges::all_of(output.consumers, [&](NodeId id) {
          return is_product(id) && graph_.nodes[id].inputs[1] == source.outputs[0];
        })) {
      return {};
    }
    const std::optional<Codes> codes = codes_of(constant(source, 0));
    const Tensor* stated = constant(source, 1);
    if (!codes || stated == nullptr || stated->type != ElementType::kFloat) return {};
    const Tensor scales = *stated;  // constants move when others are added
    const int64_t block = *source.integer("block_size");
    const int64_t blocks = (codes->rows - 1) / block + 1;
    const Shape of_blocks = {blocks, codes->columns};
    if (scales.shape != of_blocks) return {};
    const bool has_zeros = source.inputs.size() > 2 && source.inputs[2] != kNoValue;
    const Tensor* zeros = has_zeros ? constant(source, 2) : nullptr;
    const std::optional<Codes> zero_codes = codes_of(zeros);
    if (has_zeros &&
        (!zero_codes || zeros->shape != of_blocks || zeros->type != constant(source, 0)->type)) {
      return {};
    }
    BlockWeights made = {
        .rows = codes->rows, .columns = codes->columns, .bits = codes->bits, .block = block};
    if (!options_.has_kernel(probe(made, source))) return {};
    made.weights =
        add("weights", ElementType::kUint8, {codes->columns, blocks, block * codes->bits / 8},
            codes->columns_first(blocks * block));
    made.scales = add("scales", ElementType::kFloat, {codes->columns, blocks}, transposed(scales));
    // Without zero points, the operator's are in the middle: 0 of numbers with a sign.
    const int64_t zero_bytes = (blocks * codes->bits + 7) / 8;
    if (zero_codes) {
      made.zero_points = add("zero_points", ElementType::kUint8, {codes->columns, zero_bytes},
                             zero_codes->columns_first(blocks));
    } else if (codes->flip == 0) {
      made.zero_points =
          add("zero_points", ElementType::kUint8, {codes->columns, zero_bytes},
              std::vector<std::byte>(static_cast<size_t>(codes->columns * zero_bytes)));
    }
    return made;
  }

  [[nodiscard]] const Tensor* constant(const Node& node, size_t input) const {
    return node.inputs[input] == kNoValue ? nullptr : graph_.constant(node.inputs[input]);
  }

  // A node with the types of the one that will be made, before there are its constants.
  static Node probe(const BlockWeights& weights, const Node& source) {
    Node node = make(weights, source.outputs[0]);
    node.inputs = {source.outputs[0]};
    node.outputs = {source.outputs[0]};
    return node;
  }

  static Node make(const BlockWeights& weights, ValueId a) {
    Node node = {.op_type = "MatMulNBits", .domain = "com.microsoft", .since_version = 1};
    node.inputs = {a, weights.weights, weights.scales};
    if (weights.zero_points != kNoValue) node.inputs.push_back(weights.zero_points);
    node.attributes.push_back({"K", weights.rows});
    node.attributes.push_back({"N", weights.columns});
    node.attributes.push_back({"bits", weights.bits});
    node.attributes.push_back({"block_size", weights.block});
    return node;
  }

  NodeId replace(NodeId id, const BlockWeights& weights) {
    Node& node = graph_.nodes[id];
    Node made = make(weights, node.inputs[0]);
    made.name = node.name;
    made.outputs = std::move(node.outputs);
    node = std::move(made);
    return id;
  }

  ValueId add(std::string_view name, ElementType type, Shape shape, std::vector<std::byte> bytes) {
    const ValueId value = graph_.add_value(
        {.name = names_.make("block_products", name),
         .type = {.kind = graph::ValueKind::kTensor, .element = type, .shape = shape},
         .initializer = static_cast<uint32_t>(graph_.initializers.size())});
    graph_.initializers.push_back(
        {.type = type, .shape = std::move(shape), .data = graph::make_blob(std::move(bytes))});
    return value;
  }

  // The matrix [N, blocks] of floats from one of [blocks, N].
  static std::vector<std::byte> transposed(const Tensor& scales) {
    const auto rows = static_cast<size_t>(scales.shape[0]);
    const auto columns = static_cast<size_t>(scales.shape[1]);
    std::vector<std::byte> moved(rows * columns * sizeof(float));
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        std::memcpy(moved.data() + (c * rows + r) * sizeof(float),
                    scales.data.bytes.data() + (r * columns + c) * sizeof(float), sizeof(float));
      }
    }
    return moved;
  }

  Graph& graph_;
  const QuantizedOperators& options_;
  UniqueNames& names_;
  std::map<NodeId, std::optional<BlockWeights>> known_;  // by DequantizeLinear node
};

}  // namespace

std::vector<NodeId> form_block_products(Graph& graph, const QuantizedOperators& options,
                                        UniqueNames& names) {
  return BlockProducts(graph, options, names).run();
}

}  // namespace ephost::optimize
