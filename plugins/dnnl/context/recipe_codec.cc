#include "plugins/dnnl/context/recipe_codec.h"

#include <utility>

#include "plugins/dnnl/recipe/shape_rules.h"

namespace ephost_dnnl {
namespace {

// Visits the fields of an operator's parameters and writes each.
class FieldEncoder {
 public:
  explicit FieldEncoder(ByteWriter& writer) : writer_(writer) {}
  void operator()(int64_t value) { writer_.number(value); }
  void operator()(float value) { writer_.number(value); }
  void operator()(uint8_t value) { writer_.number(value); }
  template <class Number>
  void operator()(const std::vector<Number>& values) {
    writer_.number(static_cast<uint32_t>(values.size()));
    for (const Number value : values) writer_.number(value);
  }
  template <class Enum, class = std::enable_if_t<std::is_enum_v<Enum>>>
  void operator()(Enum value) {
    writer_.number(static_cast<uint8_t>(value));
  }

 private:
  ByteWriter& writer_;
};

// Visits the fields of an operator's parameters and reads each.
class FieldDecoder {
 public:
  explicit FieldDecoder(ByteReader& reader) : reader_(reader) {}
  void operator()(int64_t& value) { value = reader_.number<int64_t>(); }
  void operator()(float& value) { value = reader_.number<float>(); }
  void operator()(uint8_t& value) { value = reader_.number<uint8_t>(); }
  template <class Number>
  void operator()(std::vector<Number>& values) {
    values.resize(reader_.count(sizeof(Number)));
    for (Number& value : values) value = reader_.number<Number>();
  }
  template <class Enum, class = std::enable_if_t<std::is_enum_v<Enum>>>
  void operator()(Enum& value) {
    const auto number = reader_.number<uint8_t>();
    if (number > static_cast<uint8_t>(last_of(Enum()))) {
      reader_.fail("an enumerator " + std::to_string(number));
    }
    value = static_cast<Enum>(number);
  }

 private:
  ByteReader& reader_;
};

template <class Parameter, class Codec>
void visit_fields(Parameter& parameter, Codec& codec) {
  std::remove_const_t<Parameter>::fields(parameter, codec);
}

void encode_parameters(const Parameters& parameters, ByteWriter& writer) {
  writer.number(static_cast<uint8_t>(parameters.index()));
  FieldEncoder encoder(writer);
  std::visit([&](const auto& parameter) { visit_fields(parameter, encoder); }, parameters);
}

// Default-constructed parameters of the alternative with that index.
template <std::size_t... kIndices>
Parameters alternative(std::size_t index, std::index_sequence<kIndices...>) {
  Parameters parameters;
  const bool found =
      ((index == kIndices && (parameters.emplace<kIndices>(), true)) || ... || false);
  static_cast<void>(found);
  return parameters;
}

Parameters decode_parameters(ByteReader& reader) {
  constexpr std::size_t kCount = std::variant_size_v<Parameters>;
  const auto index = reader.number<uint8_t>();
  if (index >= kCount) reader.fail("an operator " + std::to_string(index));
  Parameters parameters = alternative(index, std::make_index_sequence<kCount>());
  FieldDecoder decoder(reader);
  std::visit([&](auto& parameter) { visit_fields(parameter, decoder); }, parameters);
  return parameters;
}

void encode_post_op(const PostOp& post_op, ByteWriter& writer) {
  FieldEncoder encoder(writer);
  encoder(post_op.kind);
  if (post_op.kind == PostOpKind::kEltwise) visit_fields(post_op.eltwise, encoder);
  if (post_op.kind == PostOpKind::kBinary) visit_fields(post_op.binary, encoder);
  if (post_op.has_operand()) writer.number(post_op.operand);
}

PostOp decode_post_op(ByteReader& reader) {
  FieldDecoder decoder(reader);
  PostOp post_op;
  decoder(post_op.kind);
  if (post_op.kind == PostOpKind::kEltwise) visit_fields(post_op.eltwise, decoder);
  if (post_op.kind == PostOpKind::kBinary) visit_fields(post_op.binary, decoder);
  if (post_op.has_operand()) post_op.operand = reader.number<TensorId>();
  return post_op;
}

void encode_ids(const std::vector<TensorId>& ids, ByteWriter& writer) {
  writer.number(static_cast<uint32_t>(ids.size()));
  for (const TensorId id : ids) writer.number(id);
}

std::vector<TensorId> decode_ids(ByteReader& reader) {
  std::vector<TensorId> ids(reader.count(sizeof(TensorId)));
  for (TensorId& id : ids) id = reader.number<TensorId>();
  return ids;
}

void encode_op(const Op& op, ByteWriter& writer) {
  FieldEncoder encoder(writer);
  encode_parameters(op.parameters, writer);
  encode_ids(op.inputs, writer);
  writer.number(op.output);
  writer.number(static_cast<uint32_t>(op.post_ops.size()));
  for (const PostOp& post_op : op.post_ops) encode_post_op(post_op, writer);
  writer.number(static_cast<uint8_t>(op.quantization.has_value()));
  if (op.quantization) visit_fields(*op.quantization, encoder);
  writer.number(op.failed_primitives);
  writer.text(op.name);
}

Op decode_op(ByteReader& reader) {
  FieldDecoder decoder(reader);
  Op op;
  op.parameters = decode_parameters(reader);
  op.inputs = decode_ids(reader);
  op.output = reader.number<TensorId>();
  op.post_ops.resize(reader.count(1));
  for (PostOp& post_op : op.post_ops) post_op = decode_post_op(reader);
  const auto is_quantized = reader.number<uint8_t>();
  if (is_quantized > 1) reader.fail("a flag " + std::to_string(is_quantized));
  if (is_quantized == 1) visit_fields(op.quantization.emplace(), decoder);
  op.failed_primitives = reader.number<uint8_t>();
  op.name = reader.text();
  return op;
}

void encode_ports(const std::vector<Port>& ports, ByteWriter& writer) {
  FieldEncoder encoder(writer);
  writer.number(static_cast<uint32_t>(ports.size()));
  for (const Port& port : ports) {
    writer.number(port.tensor);
    encoder(port.shape);
  }
}

std::vector<Port> decode_ports(ByteReader& reader) {
  FieldDecoder decoder(reader);
  std::vector<Port> ports(reader.count(sizeof(TensorId) + sizeof(uint32_t)));
  for (Port& port : ports) {
    port.tensor = reader.number<TensorId>();
    decoder(port.shape);
  }
  return ports;
}

}  // namespace

void encode(const Recipe& recipe, ByteWriter& writer) {
  FieldEncoder encoder(writer);
  writer.number(static_cast<uint32_t>(recipe.tensors.size()));
  for (const Tensor& tensor : recipe.tensors) {
    encoder(tensor.dims);
    encoder(tensor.type);
  }
  encode_ports(recipe.inputs, writer);
  encode_ports(recipe.outputs, writer);
  encode_ids(recipe.constants, writer);
  writer.number(static_cast<uint32_t>(recipe.ops.size()));
  for (const Op& op : recipe.ops) encode_op(op, writer);
}

Recipe decode_recipe(ByteReader& reader) {
  FieldDecoder decoder(reader);
  Recipe recipe;
  recipe.tensors.resize(reader.count(sizeof(uint32_t) + sizeof(uint8_t)));
  for (Tensor& tensor : recipe.tensors) {
    decoder(tensor.dims);
    decoder(tensor.type);
  }
  recipe.inputs = decode_ports(reader);
  recipe.outputs = decode_ports(reader);
  recipe.constants = decode_ids(reader);
  recipe.ops.resize(reader.count(1));
  for (Op& op : recipe.ops) op = decode_op(reader);
  try {
    check_recipe(recipe);
  } catch (const InvalidRecipe& error) {
    throw Malformed(error.what());
  }
  return recipe;
}

}  // namespace ephost_dnnl
