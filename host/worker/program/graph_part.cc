#include "host/worker/program/graph_part.h"

#include "host/worker/program/served_graph.h"

namespace ephost::worker {

std::span<const PlainNode> GraphPart::nodes() const {
  const uint32_t count = array<PlainPart>({offset(), 1})->nodes;
  return {array<PlainNode>({offset() + uint32_t{sizeof(PlainPart)}, count}), count};
}

std::span<const PlainValueInfo> GraphPart::values() const {
  const std::span<const PlainNode> before = nodes();
  const uint32_t count = array<PlainPart>({offset(), 1})->values;
  return {reinterpret_cast<const PlainValueInfo*>(before.data() + before.size()), count};
}

eph_string* GraphPart::texts(PlainList list, Storage& storage) const {
  auto* const out = storage.array<eph_string>(list.count);
  for (uint32_t i = 0; i < list.count; ++i) out[i] = text(array<PlainList>(list)[i]);
  return out;
}

eph_type GraphPart::read(const PlainType& type, Storage& storage) const {
  eph_type out = {};
  out.kind = type.kind;
  out.element_type = type.element_type;
  out.rank = type.rank;
  out.shape = array<int64_t>(type.shape);
  out.dim_names = texts(type.dim_names, storage);
  if (type.content.count != 0) {
    out.content = storage.keep(read(*array<PlainType>(type.content), storage));
  }
  return out;
}

Result<eph_attribute> GraphPart::read(CallState& call, const PlainAttribute& attribute,
                                      Storage& storage,
                                      std::vector<std::unique_ptr<ServedGraph>>& bodies) const {
  eph_attribute out = {text(attribute.name), nullptr, attribute.values.count, attribute.kind, 0};
  switch (attribute.kind) {
    case EPH_ATTRIBUTE_FLOAT:
    case EPH_ATTRIBUTE_FLOATS:
    case EPH_ATTRIBUTE_INT:
    case EPH_ATTRIBUTE_INTS:
      out.values = array<char>(attribute.values);
      return out;
    case EPH_ATTRIBUTE_STRING:
    case EPH_ATTRIBUTE_STRINGS:
      out.values = texts(attribute.values, storage);
      return out;
    default:
      break;
  }
  if (attribute.rare == 0) return out;
  const wire::Rare& rare = part_.rare(static_cast<int>(attribute.rare - 1));
  if (attribute.kind == EPH_ATTRIBUTE_GRAPH || attribute.kind == EPH_ATTRIBUTE_GRAPHS) {
    out.count = static_cast<uint64_t>(rare.graphs_size());
    auto** const graphs = storage.array<const eph_graph*>(static_cast<size_t>(out.count));
    for (int i = 0; i < rare.graphs_size(); ++i) {
      graphs[i] =
          bodies.emplace_back(std::make_unique<ServedGraph>(call, rare.graphs(i), plain_)).get();
    }
    out.values = graphs;
    return out;
  }
  out.count = static_cast<uint64_t>(rare.values_size());
  auto* const values = storage.array<eph_value>(static_cast<size_t>(out.count));
  for (int i = 0; i < rare.values_size(); ++i) {
    EPHOST_ASSIGN_OR_RETURN(values[i], call.read(rare.values(i)));
  }
  out.values = values;
  return out;
}

Result<eph_node_info> GraphPart::read(CallState& call, const PlainNode& node, Storage& storage,
                                      std::vector<std::unique_ptr<ServedGraph>>& bodies) const {
  eph_node_info out = {};
  out.struct_size = sizeof(out);
  out.name = text(node.name);
  out.op_type = text(node.op_type);
  out.domain = text(node.domain);
  out.overload = text(node.overload);
  out.since_version = node.since_version;
  out.flags = node.flags;
  out.inputs = array<uint32_t>(node.inputs);
  out.input_count = node.inputs.count;
  out.outputs = array<uint32_t>(node.outputs);
  out.output_count = node.outputs.count;
  out.implicit_inputs = array<uint32_t>(node.implicit_inputs);
  out.implicit_input_count = node.implicit_inputs.count;
  auto* const pairs = storage.array<eph_key_value>(node.metadata.count);
  for (uint32_t i = 0; i < node.metadata.count; ++i) {
    const PlainPair& pair = array<PlainPair>(node.metadata)[i];
    pairs[i] = {text(pair.key), text(pair.value)};
  }
  out.metadata = pairs;
  out.metadata_count = node.metadata.count;
  auto* const attributes = storage.array<eph_attribute>(node.attributes.count);
  for (uint32_t i = 0; i < node.attributes.count; ++i) {
    EPHOST_ASSIGN_OR_RETURN(attributes[i],
                            read(call, array<PlainAttribute>(node.attributes)[i], storage, bodies));
  }
  out.attributes = attributes;
  out.attribute_count = node.attributes.count;
  return out;
}

Result<eph_value_info> GraphPart::read(CallState& call, const PlainValueInfo& value,
                                       Storage& storage, const GraphValue* known_as) const {
  const eph_type type = read(value.type, storage);
  eph_value_info out = {};
  out.struct_size = sizeof(out);
  out.name = text(value.name);
  out.kind = type.kind;
  out.element_type = type.element_type;
  out.rank = type.rank;
  out.flags = value.flags;
  out.shape = type.shape;
  out.dim_names = type.dim_names;
  out.producer = value.producer;
  out.consumers = array<uint32_t>(value.consumers);
  out.consumer_count = value.consumers.count;
  if (value.in_region.count != 0) {
    const PlainConstant& constant = *array<PlainConstant>(value.in_region);
    EPHOST_ASSIGN_OR_RETURN(const eph_value read,
                            call.read(constant, array<int64_t>(constant.shape)));
    out.constant = storage.keep(read);
  } else if (value.constant != 0) {
    const wire::Rare& rare = part_.rare(static_cast<int>(value.constant - 1));
    EPHOST_ASSIGN_OR_RETURN(const eph_value constant, call.read(rare.values(0), known_as));
    out.constant = storage.keep(constant);
  }
  out.content = type.content;
  return out;
}

}  // namespace ephost::worker
