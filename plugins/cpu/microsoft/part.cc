#include "plugins/cpu/microsoft/part.h"

#include <algorithm>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/kernels/quantized/bytes.h"
#include "plugins/cpu/microsoft/operators.h"

namespace ephost_cpu {
namespace {

// A graph with one node, about whose values nothing is known but the constants.
class PartGraph : public eph_graph {
 public:
  PartGraph(const NodeContext& context, std::string_view op_type, int32_t version,
            eph::ArrayView<eph_attribute> attributes, bool has_constants)
      : eph_graph{&kApi},
        context_(context),
        op_type_(op_type),
        version_(version),
        attributes_(attributes),
        has_constants_(has_constants) {}

 private:
  static const PartGraph& self(const eph_graph* graph) {
    return *static_cast<const PartGraph*>(graph);
  }

  static int32_t get_graph(const eph_graph*, eph_graph_info* out, eph_error* error) noexcept {
    return eph::detail::guard(error, [&] {
      eph::detail::fill_record(out, [](eph_graph_info& info) { info.node_count = 1; });
    });
  }

  static int32_t get_node(const eph_graph* graph, uint32_t, eph_node_info* out,
                          eph_error* error) noexcept {
    return eph::detail::guard(error, [&] {
      eph::detail::fill_record(out, [&](eph_node_info& info) {
        const PartGraph& part = self(graph);
        const eph::NodeView& node = part.context_.node();
        info.name = eph::to_abi(node.name());
        info.op_type = eph::to_abi(part.op_type_);
        info.since_version = part.version_;
        info.inputs = node.inputs().data();
        info.input_count = node.inputs().size();
        info.outputs = node.outputs().data();
        info.output_count = node.outputs().size();
        info.attributes = part.attributes_.data();
        info.attribute_count = part.attributes_.size();
      });
    });
  }

  static int32_t get_value(const eph_graph* graph, uint32_t index, eph_value_info* out,
                           eph_error* error) noexcept {
    return eph::detail::guard(error, [&] {
      eph::detail::fill_record(out, [&](eph_value_info& info) {
        info.rank = -1;
        info.producer = EPH_NONE;
        info.constant = self(graph).constant(index);
      });
    });
  }

  static int32_t find_value(const eph_graph*, eph_string, uint32_t* out, eph_error*) noexcept {
    *out = EPH_NONE;
    return EPH_NOT_FOUND;
  }
  static int64_t get_opset(const eph_graph*, eph_string) noexcept { return 0; }
  static int32_t get_onnx(const eph_graph*, uint64_t, eph_bytes* out, eph_error* error) noexcept {
    *out = {};
    eph::detail::set_message(error, "a part of a node has no ONNX bytes");
    return EPH_NOT_IMPLEMENTED;
  }

  // As the kernel of the whole node sees it: in float, if it was float16.
  [[nodiscard]] const eph_value* constant(uint32_t value) const {
    if (!has_constants_) return nullptr;
    const eph::ArrayView<uint32_t> inputs = context_.node().inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == value) return context_.constant(i);
    }
    return nullptr;
  }

  static constexpr eph_graph_api kApi = {sizeof(eph_graph_api), &get_graph, &get_node, &get_value,
                                         &find_value,           &get_opset, &get_onnx};

  const NodeContext& context_;
  std::string_view op_type_;
  int32_t version_;
  eph::ArrayView<eph_attribute> attributes_;
  bool has_constants_;
};

std::unique_ptr<Kernel> make_kernel(const KernelEntry& entry, int32_t version,
                                    const NodeContext& context,
                                    eph::ArrayView<eph_attribute> attributes, bool has_constants) {
  const PartGraph graph(context, entry.op_type, version, attributes, has_constants);
  const eph::GraphView view(&graph);
  const NodeContext part(view, 0, entry, context.settings());
  return entry.create(part);
}

template <class T>
void transpose_typed(const T* from, int64_t batch, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kTile = 16;
  const int64_t tiles = (columns + kTile - 1) / kTile;
  const double cost = 0.5 * static_cast<double>(rows * std::min(columns, kTile));
  parallel_for(batch * tiles, cost, [=](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t at = t / tiles * rows * columns;
      const int64_t first = t % tiles * kTile;
      const int64_t last = std::min(columns, first + kTile);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = first; c < last; ++c) to[at + c * rows + r] = from[at + r * columns + c];
      }
    }
  });
}

void transpose_byte_planes(const uint8_t* from, int64_t batch, int64_t rows, int64_t columns,
                           uint8_t* to) {
  constexpr int64_t kPiece = 256;  // columns
  const int64_t pieces = (columns - 1) / kPiece + 1;
  const double cost = 0.1 * static_cast<double>(rows * std::min(columns, kPiece));
  parallel_for(batch * pieces, cost, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plane = i / pieces * rows * columns;
      const int64_t first = i % pieces * kPiece;
      transpose_bytes(from + plane + first, columns, rows, std::min(kPiece, columns - first),
                      to + plane + first * rows, rows);
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> make_part(std::string_view op_type, int32_t version,
                                  const NodeContext& context, bool has_constants) {
  return make_kernel(onnx_entry(op_type, version), version, context, context.node().attributes(),
                     has_constants);
}

std::unique_ptr<Kernel> make_part_with(std::string_view op_type, int32_t version,
                                       const NodeContext& context,
                                       eph::ArrayView<eph_attribute> attributes) {
  return make_kernel(onnx_entry(op_type, version), version, context, attributes, false);
}

std::unique_ptr<Kernel> make_microsoft_part(const KernelEntry& entry, const NodeContext& context) {
  return make_kernel(entry, entry.since, context, context.node().attributes(), false);
}

void transpose_planes(int32_t element_type, const void* from, int64_t batch, int64_t rows,
                      int64_t columns, void* to) {
  if (batch == 0 || rows == 0 || columns == 0) return;
  if (element_size(element_type) == 1) {
    return transpose_byte_planes(static_cast<const uint8_t*>(from), batch, rows, columns,
                                 static_cast<uint8_t*>(to));
  }
  dispatch_size(element_size(element_type), [&](auto tag) {
    using T = typename decltype(tag)::type;
    transpose_typed(static_cast<const T*>(from), batch, rows, columns, static_cast<T*>(to));
  });
}

Dims channels_to_front(const Dims& shape) {
  Dims moved = shape;
  moved.pop_back();
  moved.insert(1, shape.back());
  return moved;
}

Dims channels_to_back(const Dims& shape) {
  Dims moved = shape;
  moved.erase(1);
  moved.push_back(shape[1]);
  return moved;
}

}  // namespace ephost_cpu
