#include "host/layers/trace/arguments.h"

#include <algorithm>
#include <span>

#include "host/base/hash.h"
#include "host/base/printable.h"
#include "host/layers/decorate/host_object.h"
#include "host/plugin/adopt.h"

namespace ephost::layers {
namespace {

constexpr uint64_t kMaxShown = 64;  // entries of an array
constexpr size_t kMaxText = 200;

// What a plugin declares, as far as its record reaches; zero where it is broken.
template <class Record>
Record known_part(const Record* given) {
  const auto adopted = plugin::adopt<Record>(given, {});
  return adopted.ok() ? *adopted : Record{};
}

std::string json_of(eph_string text) {
  if (text.size == 0) return {};
  if (text.data == nullptr || text.size > plugin::kMaxRecordSize) return "\"(broken text)\"";
  return json_text({text.data, static_cast<size_t>(text.size)});
}

std::string checksum_of_bytes(const void* data, uint64_t size) {
  const std::span bytes(static_cast<const std::byte*>(data), static_cast<size_t>(size));
  return '"' + to_hex(content_checksum(bytes)) + '"';
}

std::string content(const void* data, uint64_t size) {
  JsonText object('{');
  object.add("bytes", json_number(size));
  if (data != nullptr) object.add("checksum", checksum_of_bytes(data, size));
  return object.text();
}

// The checksum of texts, and of where each of them ends.
std::string checksum_of_texts(const eph_value& tensor) {
  ContentHasher content;
  const std::span texts(static_cast<const eph_string*>(tensor.data),
                        static_cast<size_t>(tensor.byte_size / sizeof(eph_string)));
  for (const eph_string& text : texts) {
    const std::span characters(text.data, static_cast<size_t>(text.size));
    content.update(std::as_bytes(std::span(&text.size, 1)));
    if (!characters.empty()) content.update(std::as_bytes(characters));
  }
  return '"' + to_hex(content.checksum()) + '"';
}

// Empty for one in the memory of a device, or without memory.
std::string checksum_of_tensor(const eph_value& tensor) {
  if (tensor.memory != 0 || tensor.data == nullptr) return {};
  return tensor.element_type == EPH_ELEMENT_STRING
             ? checksum_of_texts(tensor)
             : checksum_of_bytes(tensor.data, tensor.byte_size);
}

// How many elements a sequence has, or entries a map; empty for another kind of value.
std::string element_count(const eph_value& value) {
  const auto* const first = static_cast<const eph_value*>(value.data);
  if (value.kind == EPH_KIND_SEQUENCE && value.rank == 1) return json_number(value.shape[0]);
  if (value.kind != EPH_KIND_MAP || first == nullptr || first->rank != 1) return {};
  return json_number(first->shape[0]);
}

// For a value of the host, which is an input or output of a run.
std::string value_text(const eph_value* value) {
  if (value == nullptr) return "null";
  JsonText object('{');
  object.add("kind", json_number(value->kind)).add("type", json_number(value->element_type));
  if (value->kind == EPH_KIND_TENSOR && (value->shape != nullptr || value->rank == 0)) {
    JsonText shape('[');
    for (uint32_t i = 0; i < value->rank; ++i) shape.add(json_number(value->shape[i]));
    object.add("shape", shape.text()).add("bytes", json_number(value->byte_size));
    if (value->memory != 0) object.add("memory", json_number(value->memory));
    object.add("checksum", checksum_of_tensor(*value));
  }
  return object.add("elements", element_count(*value)).text();
}

// Asks the host itself, so that the trace does not trace its own questions.
std::string graph_text(const eph_graph* graph) {
  if (graph == nullptr) return "null";
  eph_graph_info info = {};
  info.struct_size = sizeof(info);
  eph_error ignored = {&kIgnoresMessages};
  if (graph->api->get_graph(graph, &info, &ignored) != EPH_OK) return {};
  return JsonText('{')
      .add("name", json_of(info.name))
      .add("nodes", json_number(info.node_count))
      .add("inputs", json_number(info.input_count))
      .add("outputs", json_number(info.output_count))
      .text();
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string safe = printable(text.substr(0, kMaxText));
  if (text.size() > kMaxText) safe += "...";
  return json_string(safe);
}

ArgumentText::Parameter ArgumentText::next_parameter() {
  const size_t end = std::min(parameters_.find(' '), parameters_.size());
  const std::string_view parameter = parameters_.substr(0, end);
  parameters_.remove_prefix(std::min(end + 1, parameters_.size()));
  const size_t count = parameter.find('[');
  return {parameter.substr(0, count), count != std::string_view::npos};
}

void ArgumentText::add_copies(const eph_copy* copies, uint64_t stride, uint64_t count,
                              const eph_error*) {
  JsonText list('[');
  const auto* at = reinterpret_cast<const std::byte*>(copies);
  for (uint64_t i = 0; i < count; ++i, at += stride) {
    const auto& copy = *reinterpret_cast<const eph_copy*>(at);
    JsonText one('{');
    if (is_before()) one.add("to_memory", json_number(copy.to_memory));
    if (copy.to_memory == 0 && !is_before()) one.add("to", content(copy.to, copy.size));
    if (is_before()) one.add("from_memory", json_number(copy.from_memory));
    if (copy.from_memory == 0 && is_before()) one.add("from", content(copy.from, copy.size));
    if (is_before()) one.add("size", json_number(copy.size));
    list.add(one.text());
  }
  object_.add("copies", list.text());
}

void ArgumentText::add_enqueued(const eph_stream*, const eph_copy* copies, uint64_t stride,
                                uint64_t count, uint64_t step, const eph_error* error) {
  if (!is_before()) return;
  add_copies(copies, stride, count, error);
  object_.add("step", json_number(step));
}

template <class Number>
std::string ArgumentText::numbers(const Number* begin, uint64_t count) const {
  if (!is_before()) return {};
  if (begin == nullptr) return "null";
  JsonText list('[');
  for (uint64_t i = 0; i < std::min(count, kMaxShown); ++i) list.add(json_number(begin[i]));
  if (count > kMaxShown) list.add(formatted("\"and {} more\"", count - kMaxShown));
  return list.text();
}
template std::string ArgumentText::numbers(const int64_t*, uint64_t) const;
template std::string ArgumentText::numbers(const uint32_t*, uint64_t) const;

std::string ArgumentText::shown_partitions(const eph_partition* partitions, uint64_t stride,
                                           uint64_t count) const {
  if (!is_before()) return {};
  JsonText list('[');
  for (uint64_t i = 0; i < count; ++i) {
    const auto& partition = *reinterpret_cast<const eph_partition*>(
        reinterpret_cast<const std::byte*>(partitions) + i * stride);
    JsonText object('{');
    object.add("name", json_of(partition.name)).add("token", json_number(partition.token));
    if (partition.ep_context != nullptr) {
      object.add("context", shown(partition.ep_context->payload));
    } else {
      object.add("graph", graph_text(partition.graph));
    }
    list.add(object.text());
  }
  return list.text();
}

std::string ArgumentText::shown_options(const eph_option* options, uint64_t count) const {
  if (!is_before()) return {};
  JsonText object('{');
  for (uint64_t i = 0; i < count; ++i) {
    const std::string value = json_of(options[i].string_value);
    const eph_string name = options[i].name;
    object.add(formatted("{}:{}", json_text({name.data, static_cast<size_t>(name.size)}),
                         value.empty() ? "\"\"" : value));
  }
  return object.text();
}

std::string ArgumentText::shown_texts(const eph_string* texts, uint64_t count) const {
  if (!is_before()) return {};
  if (texts == nullptr) return "null";
  JsonText list('[');
  for (uint64_t i = 0; i < std::min(count, kMaxShown); ++i) {
    const std::string text = json_of(texts[i]);
    list.add(text.empty() ? "\"\"" : text);
  }
  return list.text();
}

std::string ArgumentText::shown_profiles(const eph_shape_profile* profiles, uint64_t stride,
                                         uint64_t count) const {
  if (!is_before()) return {};
  JsonText list('[');
  for (uint64_t i = 0; i < count; ++i) {
    const auto& profile = *reinterpret_cast<const eph_shape_profile*>(
        reinterpret_cast<const std::byte*>(profiles) + i * stride);
    JsonText extents('[');
    for (uint64_t k = 0; k < profile.extent_count; ++k) {
      const eph_extent_range& range = profile.extents[k];
      extents.add(JsonText('{')
                      .add("input", json_of(range.input))
                      .add("symbol", json_of(range.symbol))
                      .add("axis", json_number(range.axis))
                      .add("least", json_number(range.least))
                      .add("best", json_number(range.best))
                      .add("greatest", json_number(range.greatest))
                      .text());
    }
    for (uint64_t k = 0; k < profile.value_count; ++k) {
      const eph_value_range& range = profile.values[k];
      extents.add(JsonText('{')
                      .add("input", json_of(range.input))
                      .add("element", json_number(range.element))
                      .add("least", json_number(range.least))
                      .add("best", json_number(range.best))
                      .add("greatest", json_number(range.greatest))
                      .text());
    }
    list.add(extents.text());
  }
  return list.text();
}

std::string ArgumentText::shown_bytes(const void* data, uint64_t size) const {
  return is_before() ? content(data, size) : std::string();
}

std::string ArgumentText::shown(eph_string text) const {
  return is_before() ? json_of(text) : std::string();
}

std::string ArgumentText::shown(eph_bytes bytes) const {
  return shown_bytes(bytes.data, bytes.size);
}

std::string ArgumentText::shown(const eph_graph* graph) const {
  return is_before() ? graph_text(graph) : std::string();
}

std::string ArgumentText::shown(const eph_provider_config* config) const {
  if (!is_before()) return {};
  JsonText devices('[');
  for (uint64_t i = 0; i < config->device_count; ++i) {
    const auto& device = *reinterpret_cast<const eph_device*>(
        reinterpret_cast<const std::byte*>(config->devices) + i * config->device_stride);
    devices.add(json_of(device.id));
  }
  JsonText object('{');
  object.add("options", shown_options(config->options, config->option_count))
      .add("devices", devices.text());
  if (config->target != nullptr) object.add("target", json_of(config->target->id));
  return object.add("purpose", json_number(config->purpose)).text();
}

std::string ArgumentText::shown(const eph_run_config* config) const {
  if (!is_before()) return {};
  return JsonText('{')
      .add("run_id", json_number(config->run_id))
      .add("tag", json_of(config->tag))
      .add("options", shown_options(config->options, config->option_count))
      .text();
}

std::string ArgumentText::shown(const eph_fused_claim* claim) const {
  if (!is_before()) return {};
  const eph_fused_claim known = known_part(claim);
  return JsonText('{')
      .add("name", json_of(known.name))
      .add("nodes", known.nodes == nullptr ? "" : numbers(known.nodes, known.node_count))
      .add("flags", json_number(known.flags))
      .add("token", json_number(known.token))
      .text();
}

std::string ArgumentText::shown(const eph_context_node* node) const {
  if (!is_before()) return {};
  const eph_context_node known = known_part(node);
  return JsonText('{')
      .add("computation", json_number(known.computation))
      .add("payload", json_number(known.payload))
      .add("source", json_of(known.source))
      .add("sdk_version", json_of(known.sdk_version))
      .add("hardware_architecture", json_of(known.hardware_architecture))
      .add("notes", json_of(known.notes))
      .add("constants", json_number(known.constant_count))
      .text();
}

std::string ArgumentText::shown(const eph_device* device) const {
  if (!is_before()) return {};
  const eph_device known = known_part(device);
  return JsonText('{')
      .add("id", json_of(known.id))
      .add("name", json_of(known.name))
      .add("type", json_number(known.type))
      .add("flags", json_number(known.flags))
      .text();
}

std::string ArgumentText::shown(const eph_event* event) const {
  if (!is_before()) return {};
  const eph_event known = known_part(event);
  return JsonText('{')
      .add("name", json_of(known.name))
      .add("category", json_of(known.category))
      .add("track", json_of(known.track))
      .add("duration_ns", json_number(known.duration_ns))
      .text();
}

std::string ArgumentText::shown(const eph_value* value) const {
  if (!is_before()) return {};
  return value == nullptr ? "null" : "\"set\"";
}

std::string ArgumentText::shown(const eph_run* run) const {
  JsonText object('{');
  if (is_before()) {
    JsonText inputs('[');
    for (uint32_t i = 0; i < run->input_count; ++i) inputs.add(value_text(run->inputs[i]));
    object.add("run_id", json_number(run->run_id)).add("inputs", inputs.text());
    return object.text();
  }
  JsonText outputs('[');
  for (uint32_t i = 0; i < run->output_count; ++i) outputs.add(value_text(run->outputs[i]));
  return object.add("outputs", outputs.text()).text();
}

std::string ArgumentText::shown(eph_string* text) const {
  return is_before() || text == nullptr ? std::string() : json_of(*text);
}

std::string ArgumentText::shown(eph_provider_info* info) const {
  if (is_before()) return {};
  return JsonText('{').add("max_concurrent", json_number(info->max_concurrent)).text();
}

std::string ArgumentText::shown(eph_computation_info* info) const {
  if (is_before()) return {};
  const eph_computation_info known = known_part(info);
  return JsonText('{')
      .add("workspace_bytes", json_number(known.workspace_bytes))
      .add("host_alignment", json_number(known.host_alignment))
      .add("may_inplace", json_number(known.may_inplace_count))
      .add("aliases", json_number(known.alias_count))
      .add("input_parts", json_number(known.input_part_count))
      .add("output_parts", json_number(known.output_part_count))
      .add("memory", json_number(known.memory))
      .add("flags", json_number(known.flags))
      .add("must_share", json_number(known.must_share_count))
      .text();
}

std::string ArgumentText::shown(eph_memory_usage* usage) const {
  if (is_before()) return {};
  const eph_memory_usage known = known_part(usage);
  return JsonText('{')
      .add("total_bytes", json_number(known.total_bytes))
      .add("free_bytes", json_number(known.free_bytes))
      .add("kept_bytes", json_number(known.kept_bytes))
      .text();
}

}  // namespace ephost::layers
