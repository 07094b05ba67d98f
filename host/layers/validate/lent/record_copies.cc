#include "host/layers/validate/lent/record_copies.h"

#include <algorithm>
#include <vector>

namespace ephost::layers {
namespace {

// The record at place `i` of an array, zero where it does not reach.
template <class Record>
Record record_at(const Record* records, uint64_t stride, uint64_t i) {
  const auto* const at = reinterpret_cast<const std::byte*>(records) + i * stride;
  Record record = {};
  std::memcpy(&record, at, static_cast<size_t>(std::min<uint64_t>(stride, sizeof(record))));
  record.struct_size = std::min<uint64_t>(record.struct_size, sizeof(record));
  return record;
}

const eph_key_value* copy_pairs(Arena& arena, const eph_key_value* pairs, uint64_t count) {
  eph_key_value* const copied = arena.copy(pairs, count);
  for (uint64_t i = 0; copied != nullptr && i < count; ++i) {
    copied[i] = {arena.copy(pairs[i].key), arena.copy(pairs[i].value)};
  }
  return copied;
}

const eph_ep_context* copy_context(Arena& arena, PayloadCopies& payloads,
                                   const eph_ep_context* context) {
  eph_ep_context* const copied = arena.copy(context, 1);
  if (copied == nullptr) return nullptr;
  for (eph_string* const text : {&copied->partition_name, &copied->source, &copied->sdk_version,
                                 &copied->hardware_architecture, &copied->notes}) {
    *text = arena.copy(*text);
  }
  copied->payload = payloads.copy(copied->payload);
  // The array lives as long as the computation, so it stays the host's.
  return copied;
}

}  // namespace

const eph_option* copy_options(Arena& arena, const eph_option* options, uint64_t count) {
  eph_option* const copied = arena.copy(options, count);
  for (uint64_t i = 0; copied != nullptr && i < count; ++i) {
    copied[i].name = arena.copy(options[i].name);
    copied[i].string_value = arena.copy(options[i].string_value);
  }
  return copied;
}

const eph_device* copy_devices(Arena& arena, const eph_device* devices, uint64_t stride,
                               uint64_t count) {
  if (devices == nullptr) return nullptr;
  std::vector<eph_device> copied;
  for (uint64_t i = 0; i < count; ++i) {
    eph_device device = record_at(devices, stride, i);
    for (eph_string* const text :
         {&device.id, &device.name, &device.vendor, &device.architecture, &device.driver_version}) {
      *text = arena.copy(*text);
    }
    device.metadata = copy_pairs(arena, device.metadata, device.metadata_count);
    copied.push_back(device);
  }
  return arena.copy(copied.data(), copied.size());
}

const eph_provider_config* copy_config(Arena& arena, const eph_provider_config& config) {
  eph_provider_config copied = record_at(&config, config.struct_size, 0);
  copied.options = copy_options(arena, copied.options, copied.option_count);
  copied.devices = copy_devices(arena, copied.devices, copied.device_stride, copied.device_count);
  if (copied.devices != nullptr) copied.device_stride = sizeof(eph_device);
  copied.target = copied.target == nullptr
                      ? nullptr
                      : copy_devices(arena, copied.target, copied.target->struct_size, 1);
  copied.directory = arena.copy(copied.directory);
  if (copied.opened != nullptr) copied.opened = arena.copy(copied.opened, copied.device_count);
  return arena.copy(&copied, 1);
}

const eph_run_config* copy_run_config(Arena& arena, const eph_run_config& config) {
  eph_run_config copied = record_at(&config, config.struct_size, 0);
  copied.tag = arena.copy(copied.tag);
  copied.options = copy_options(arena, copied.options, copied.option_count);
  return arena.copy(&copied, 1);
}

const eph_partition* copy_partitions(Arena& arena, PayloadCopies& payloads,
                                     const eph_partition* partitions, uint64_t stride,
                                     uint64_t count) {
  std::vector<eph_partition> copied;
  for (uint64_t i = 0; i < count; ++i) {
    eph_partition partition = record_at(partitions, stride, i);
    partition.name = arena.copy(partition.name);
    partition.ep_context = copy_context(arena, payloads, partition.ep_context);
    copied.push_back(partition);
  }
  return arena.copy(copied.data(), copied.size());
}

}  // namespace ephost::layers
