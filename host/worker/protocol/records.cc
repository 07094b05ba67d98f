#include "host/worker/protocol/records.h"

namespace ephost::worker {
namespace {

template <class Field>
void add_slots(const eph_slot_pair* pairs, uint64_t count, Field& out) {
  for (uint64_t i = 0; i < count; ++i) {
    auto* const added = out.Add();
    added->set_input(pairs[i].input);
    added->set_output(pairs[i].output);
  }
}

template <class Field>
void add_parts(const eph_slot_part* parts, uint64_t count, Field& out) {
  for (uint64_t i = 0; i < count; ++i) {
    auto* const added = out.Add();
    added->set_input(parts[i].input);
    added->set_output(parts[i].output);
    added->set_offset(parts[i].offset);
  }
}

template <class Field>
void add_memories(const eph_slot_memory* slots, uint64_t count, Field& out) {
  for (uint64_t i = 0; i < count; ++i) {
    auto* const added = out.Add();
    added->set_slot(slots[i].slot);
    added->set_memory(slots[i].memory);
  }
}

eph_slot_pair read_pair(const wire::SlotPair& pair) { return {pair.input(), pair.output()}; }
eph_slot_part read_part(const wire::SlotPart& part) {
  return {part.input(), part.output(), part.offset()};
}
eph_slot_memory read_slot_memory(const wire::SlotMemory& memory) {
  return {memory.slot(), memory.memory()};
}

void write_parameters(const eph_parameter* parameters, uint64_t count,
                      google::protobuf::RepeatedPtrField<wire::Parameter>& out) {
  for (uint64_t i = 0; i < count; ++i) {
    wire::Parameter& added = *out.Add();
    added.set_name(copy(parameters[i].name));
    added.set_description(copy(parameters[i].description));
    added.set_type_name(copy(parameters[i].type_name));
    added.set_element_types(parameters[i].element_types);
    added.set_flags(parameters[i].flags);
  }
}

eph_parameter read_parameter(const wire::Parameter& parameter) {
  eph_parameter read = {};
  read.name = text_of(parameter.name());
  read.description = text_of(parameter.description());
  read.type_name = text_of(parameter.type_name());
  read.element_types = parameter.element_types();
  read.flags = parameter.flags();
  return read;
}

}  // namespace

void write(const eph_key_value* pairs, uint64_t count,
           google::protobuf::RepeatedPtrField<wire::Pair>& out) {
  for (uint64_t i = 0; i < count; ++i) {
    wire::Pair& pair = *out.Add();
    pair.set_key(copy(pairs[i].key));
    pair.set_value(copy(pairs[i].value));
  }
}

const eph_key_value* read(const google::protobuf::RepeatedPtrField<wire::Pair>& pairs,
                          Storage& storage) {
  return read_all<eph_key_value>(pairs, storage, [](const wire::Pair& pair) {
    return eph_key_value{text_of(pair.key()), text_of(pair.value())};
  });
}

const eph_string* read(const google::protobuf::RepeatedPtrField<std::string>& texts,
                       Storage& storage) {
  return read_all<eph_string>(texts, storage, text_of);
}

void write(const eph_device& device, wire::Device& out) {
  out.set_id(copy(device.id));
  out.set_name(copy(device.name));
  out.set_vendor(copy(device.vendor));
  out.set_architecture(copy(device.architecture));
  out.set_driver_version(copy(device.driver_version));
  out.set_memory_bytes(device.memory_bytes);
  out.set_type(device.type);
  out.set_flags(device.flags);
  out.set_vendor_id(device.vendor_id);
  out.set_device_id(device.device_id);
  write(device.metadata, device.metadata_count, *out.mutable_metadata());
}

eph_device read(const wire::Device& device, Storage& storage) {
  eph_device read_device = {};
  read_device.struct_size = sizeof(read_device);
  read_device.id = text_of(device.id());
  read_device.name = text_of(device.name());
  read_device.vendor = text_of(device.vendor());
  read_device.architecture = text_of(device.architecture());
  read_device.driver_version = text_of(device.driver_version());
  read_device.memory_bytes = device.memory_bytes();
  read_device.type = device.type();
  read_device.flags = device.flags();
  read_device.vendor_id = device.vendor_id();
  read_device.device_id = device.device_id();
  read_device.metadata = read(device.metadata(), storage);
  read_device.metadata_count = static_cast<uint64_t>(device.metadata_size());
  return read_device;
}

void write(const eph_option& option, wire::Option& out) {
  out.set_name(copy(option.name));
  out.set_string_value(copy(option.string_value));
  out.set_int_value(option.int_value);
  out.set_float_value(option.float_value);
  out.set_kind(option.kind);
}

eph_option read(const wire::Option& option, Storage&) {
  return {text_of(option.name()), text_of(option.string_value()),
          option.int_value(),     option.float_value(),
          option.kind(),          0};
}

void write(const eph_kernel_def& kernel, wire::Kernel& out) {
  out.set_op_type(copy(kernel.op_type));
  out.set_domain(copy(kernel.domain));
  out.set_since_version(kernel.since_version);
  out.set_until_version(kernel.until_version);
  for (uint64_t i = 0; i < kernel.rule_count; ++i) {
    wire::TypeRule& rule = *out.add_rules();
    rule.set_slot(kernel.rules[i].slot);
    rule.set_flags(kernel.rules[i].flags);
    rule.set_element_types(kernel.rules[i].element_types);
  }
}

eph_kernel_def read(const wire::Kernel& kernel, Storage& storage) {
  const auto read_rule = [](const wire::TypeRule& rule) {
    return eph_type_rule{rule.slot(), rule.flags(), rule.element_types()};
  };
  return {text_of(kernel.op_type()),
          text_of(kernel.domain()),
          kernel.since_version(),
          kernel.until_version(),
          read_all<eph_type_rule>(kernel.rules(), storage, read_rule),
          static_cast<uint64_t>(kernel.rules_size())};
}

void write(const eph_computation_info& info, wire::ComputationInfo& out) {
  out.set_workspace_bytes(info.workspace_bytes);
  out.set_host_alignment(info.host_alignment);
  add_slots(info.may_inplace, info.may_inplace_count, *out.mutable_may_inplace());
  add_slots(info.aliases, info.alias_count, *out.mutable_aliases());
  add_parts(info.input_parts, info.input_part_count, *out.mutable_input_parts());
  add_parts(info.output_parts, info.output_part_count, *out.mutable_output_parts());
  out.set_memory(info.memory);
  add_memories(info.input_memories, info.input_memory_count, *out.mutable_input_memories());
  add_memories(info.output_memories, info.output_memory_count, *out.mutable_output_memories());
  for (uint64_t i = 0; i < info.unread_input_count; ++i) {
    out.add_unread_inputs(info.unread_inputs[i]);
  }
  out.set_accepts(info.accepts);
  add_slots(info.must_share, info.must_share_count, *out.mutable_must_share());
}

eph_computation_info read(const wire::ComputationInfo& info, Storage& storage) {
  eph_computation_info out = {};
  out.struct_size = sizeof(out);
  out.workspace_bytes = info.workspace_bytes();
  out.host_alignment = info.host_alignment();
  out.may_inplace = read_all<eph_slot_pair>(info.may_inplace(), storage, read_pair);
  out.may_inplace_count = static_cast<uint64_t>(info.may_inplace_size());
  out.aliases = read_all<eph_slot_pair>(info.aliases(), storage, read_pair);
  out.alias_count = static_cast<uint64_t>(info.aliases_size());
  out.input_parts = read_all<eph_slot_part>(info.input_parts(), storage, read_part);
  out.input_part_count = static_cast<uint64_t>(info.input_parts_size());
  out.output_parts = read_all<eph_slot_part>(info.output_parts(), storage, read_part);
  out.output_part_count = static_cast<uint64_t>(info.output_parts_size());
  out.memory = info.memory();
  out.input_memories = read_all<eph_slot_memory>(info.input_memories(), storage, read_slot_memory);
  out.input_memory_count = static_cast<uint64_t>(info.input_memories_size());
  out.output_memories =
      read_all<eph_slot_memory>(info.output_memories(), storage, read_slot_memory);
  out.output_memory_count = static_cast<uint64_t>(info.output_memories_size());
  const auto as_it_is = [](uint32_t slot) { return slot; };
  out.unread_inputs = read_all<uint32_t>(info.unread_inputs(), storage, as_it_is);
  out.unread_input_count = static_cast<uint64_t>(info.unread_inputs_size());
  out.accepts = info.accepts();
  out.must_share = read_all<eph_slot_pair>(info.must_share(), storage, read_pair);
  out.must_share_count = static_cast<uint64_t>(info.must_share_size());
  return out;
}

void write(const eph_context_node& node, wire::ContextNode& out) {
  out.set_computation(node.computation);
  out.set_payload(node.payload);
  out.set_source(copy(node.source));
  out.set_sdk_version(copy(node.sdk_version));
  out.set_hardware_architecture(copy(node.hardware_architecture));
  out.set_notes(copy(node.notes));
  out.set_max_size(node.max_size);
  for (uint64_t i = 0; i < node.constant_count; ++i) out.add_constants(copy(node.constants[i]));
}

eph_context_node read(const wire::ContextNode& node, Storage& storage) {
  eph_context_node out = {};
  out.struct_size = sizeof(out);
  out.computation = node.computation();
  out.payload = node.payload();
  out.source = text_of(node.source());
  out.sdk_version = text_of(node.sdk_version());
  out.hardware_architecture = text_of(node.hardware_architecture());
  out.notes = text_of(node.notes());
  out.max_size = node.max_size();
  out.constants = read(node.constants(), storage);
  out.constant_count = static_cast<uint64_t>(node.constants_size());
  return out;
}

void write(const eph_event& event, wire::Event& out) {
  out.set_name(copy(event.name));
  out.set_category(copy(event.category));
  out.set_track(copy(event.track));
  out.set_begin_ns(event.begin_ns);
  out.set_duration_ns(event.duration_ns);
  out.set_host_offset_ns(event.host_offset_ns);
  out.set_clock(event.clock);
  out.set_run_id(event.run_id);
  write(event.arguments, event.argument_count, *out.mutable_arguments());
}

eph_event read(const wire::Event& event, Storage& storage) {
  eph_event out = {};
  out.struct_size = sizeof(out);
  out.name = text_of(event.name());
  out.category = text_of(event.category());
  out.track = text_of(event.track());
  out.begin_ns = event.begin_ns();
  out.duration_ns = event.duration_ns();
  out.host_offset_ns = event.host_offset_ns();
  out.clock = event.clock();
  out.run_id = event.run_id();
  out.arguments = read(event.arguments(), storage);
  out.argument_count = static_cast<uint64_t>(event.arguments_size());
  return out;
}

void write(const eph_kept_operator& kept, wire::KeptOperator& out) {
  out.set_op_type(copy(kept.op_type));
  out.set_domain(copy(kept.domain));
  out.set_since_version(kept.since_version);
  out.set_until_version(kept.until_version);
}

eph_kept_operator read(const wire::KeptOperator& kept, Storage&) {
  return {sizeof(eph_kept_operator), text_of(kept.op_type()), text_of(kept.domain()),
          kept.since_version(), kept.until_version()};
}

void write(const eph_memory_info& memory, wire::Memory& out) {
  out.set_name(copy(memory.name));
  out.set_alignment(memory.alignment);
  out.set_tail_padding(memory.tail_padding);
  out.set_page_size(memory.page_size);
}

// What another process can reach is the worker's memory only: flags, domain and peers stay there.
eph_memory_info read(const wire::Memory& memory, Storage&) {
  return {sizeof(eph_memory_info), text_of(memory.name()), memory.alignment(),
          memory.tail_padding(), memory.page_size()};
}

void write(const eph_shape_profile& profile, wire::ShapeProfile& out) {
  for (uint64_t i = 0; i < profile.extent_count; ++i) {
    const eph_extent_range& range = profile.extents[i];
    wire::ExtentRange& added = *out.add_extents();
    added.set_input(copy(range.input));
    added.set_symbol(copy(range.symbol));
    added.set_axis(range.axis);
    added.set_least(range.least);
    added.set_best(range.best);
    added.set_greatest(range.greatest);
  }
  for (uint64_t i = 0; i < profile.value_count; ++i) {
    const eph_value_range& range = profile.values[i];
    wire::ValueRange& added = *out.add_values();
    added.set_input(copy(range.input));
    added.set_element(range.element);
    added.set_least(range.least);
    added.set_best(range.best);
    added.set_greatest(range.greatest);
  }
}

eph_shape_profile read(const wire::ShapeProfile& profile, Storage& storage) {
  const auto read_range = [](const wire::ExtentRange& range) {
    return eph_extent_range{
        text_of(range.input()), text_of(range.symbol()), range.axis(), 0, range.least(),
        range.best(),           range.greatest()};
  };
  const auto read_values = [](const wire::ValueRange& range) {
    return eph_value_range{text_of(range.input()), range.element(), range.least(), range.best(),
                           range.greatest()};
  };
  return {sizeof(eph_shape_profile),
          read_all<eph_extent_range>(profile.extents(), storage, read_range),
          static_cast<uint64_t>(profile.extents_size()),
          read_all<eph_value_range>(profile.values(), storage, read_values),
          static_cast<uint64_t>(profile.values_size())};
}

void write(const eph_operator_def& definition, wire::Operator& out) {
  out.set_op_type(copy(definition.op_type));
  out.set_domain(copy(definition.domain));
  out.set_description(copy(definition.description));
  out.set_since_version(definition.since_version);
  out.set_is_deprecated(definition.is_deprecated);
  write_parameters(definition.inputs, definition.input_count, *out.mutable_inputs());
  write_parameters(definition.outputs, definition.output_count, *out.mutable_outputs());
  for (uint64_t i = 0; i < definition.attribute_count; ++i) {
    const eph_attribute_def& attribute = definition.attributes[i];
    wire::AttributeDefinition& added = *out.add_attributes();
    added.set_name(copy(attribute.name));
    added.set_description(copy(attribute.description));
    added.set_kind(attribute.kind);
    added.set_is_required(attribute.is_required);
    if (attribute.default_value != nullptr) {
      write(*attribute.default_value, *added.mutable_default_value());
    }
  }
  out.set_has_infer(definition.infer != nullptr);
}

eph_operator_def read(const wire::Operator& definition, Storage& storage) {
  const auto read_attribute = [&](const wire::AttributeDefinition& attribute) {
    return eph_attribute_def{text_of(attribute.name()), text_of(attribute.description()),
                             attribute.kind(), attribute.is_required(),
                             attribute.has_default_value()
                                 ? storage.keep(read(attribute.default_value(), storage))
                                 : nullptr};
  };
  eph_operator_def out = {};
  out.struct_size = sizeof(out);
  out.op_type = text_of(definition.op_type());
  out.domain = text_of(definition.domain());
  out.description = text_of(definition.description());
  out.since_version = definition.since_version();
  out.is_deprecated = definition.is_deprecated();
  out.inputs = read_all<eph_parameter>(definition.inputs(), storage, read_parameter);
  out.input_count = static_cast<uint64_t>(definition.inputs_size());
  out.outputs = read_all<eph_parameter>(definition.outputs(), storage, read_parameter);
  out.output_count = static_cast<uint64_t>(definition.outputs_size());
  out.attributes = read_all<eph_attribute_def>(definition.attributes(), storage, read_attribute);
  out.attribute_count = static_cast<uint64_t>(definition.attributes_size());
  return out;
}

void write(const eph_attribute& attribute, wire::Attribute& out) {
  out.set_name(copy(attribute.name));
  out.set_kind(attribute.kind);
  const auto count = static_cast<size_t>(attribute.values == nullptr ? 0 : attribute.count);
  switch (attribute.kind) {
    case EPH_ATTRIBUTE_FLOAT:
    case EPH_ATTRIBUTE_FLOATS: {
      const auto* const values = static_cast<const float*>(attribute.values);
      out.mutable_floats()->Add(values, values + count);
      break;
    }
    case EPH_ATTRIBUTE_INT:
    case EPH_ATTRIBUTE_INTS: {
      const auto* const values = static_cast<const int64_t*>(attribute.values);
      out.mutable_ints()->Add(values, values + count);
      break;
    }
    case EPH_ATTRIBUTE_STRING:
    case EPH_ATTRIBUTE_STRINGS:
      for (size_t i = 0; i < count; ++i) {
        out.add_strings(copy(static_cast<const eph_string*>(attribute.values)[i]));
      }
      break;
    default:
      break;
  }
}

eph_attribute read(const wire::Attribute& attribute, Storage& storage) {
  eph_attribute out = {text_of(attribute.name()), nullptr, 0, attribute.kind(), 0};
  const bool is_singular = attribute.kind() == EPH_ATTRIBUTE_FLOAT ||
                           attribute.kind() == EPH_ATTRIBUTE_INT ||
                           attribute.kind() == EPH_ATTRIBUTE_STRING;
  const auto set = [&]<class T>(const T* values, int count) {
    if (is_singular && count == 0) {
      out.values = storage.array<T>(1);
      out.count = 1;
    } else {
      out.values = values;
      out.count = is_singular ? 1 : static_cast<uint64_t>(count);
    }
  };
  switch (attribute.kind()) {
    case EPH_ATTRIBUTE_FLOAT:
    case EPH_ATTRIBUTE_FLOATS:
      set(attribute.floats().data(), attribute.floats_size());
      break;
    case EPH_ATTRIBUTE_INT:
    case EPH_ATTRIBUTE_INTS:
      set(attribute.ints().data(), attribute.ints_size());
      break;
    case EPH_ATTRIBUTE_STRING:
    case EPH_ATTRIBUTE_STRINGS:
      set(read(attribute.strings(), storage), attribute.strings_size());
      break;
    default:
      break;
  }
  return out;
}

}  // namespace ephost::worker
