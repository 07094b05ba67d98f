#include "host/session/plugins/device_memories.h"

#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/session/plugins/device_choice.h"

namespace ephost::session {
namespace {

std::string to_text(const MemoryInfo& memory) {
  if (memory.is_of_dlpack()) {
    return formatted("of DLPack's device {}:{}", memory.dlpack_type, memory.dlpack_id);
  }
  return formatted("{} of {}:{}", quote(memory.name), memory.device_type, memory.device_id);
}

bool is_named(const bridge::DeviceMemory& memory, const std::string& full,
              const std::string& name) {
  if (name.empty()) return memory.number == 1;
  return name == full || name == memory.info().name;
}

}  // namespace

MemoryInfo describe_memory(const bridge::DeviceMemory& memory) {
  const bridge::Device& device = *memory.device;
  return {.name = device.short_name() + "." + memory.info().name,
          .device_type = std::string(device_type_name(device.info().type)),
          .device_id = static_cast<int32_t>(device.info().number),
          .dlpack_type = memory.info().dlpack_type,
          .dlpack_id = memory.info().dlpack_id};
}

Result<std::optional<bridge::DeviceMemory>> find_memory(const MemoryInfo& wanted) {
  if (wanted.is_cpu()) return std::optional<bridge::DeviceMemory>();
  std::optional<bridge::DeviceMemory> found;
  std::vector<std::string> all;
  size_t matches = 0;
  for (const bridge::DeviceMemory& memory : bridge::open_memories()) {
    const MemoryInfo known = describe_memory(memory);
    all.push_back(to_text(known));
    const bool is_device =
        known.device_type == wanted.device_type && known.device_id == wanted.device_id &&
        wanted.memory_type == MemoryType::kDefault && is_named(memory, known.name, wanted.name);
    const bool is_dlpack =
        known.dlpack_type == wanted.dlpack_type && known.dlpack_id == wanted.dlpack_id;
    if (wanted.is_of_dlpack() ? !is_dlpack : !is_device) continue;
    found = memory;
    ++matches;
  }
  if (matches == 1) return found;
  const std::string open = all.empty() ? "no device is open; sessions open those of their providers"
                                       : "open are " + join(all, ", ");
  if (matches == 0) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("no open device has the memory {}; {}; host memory is MemoryInfo::cpu()",
                  to_text(wanted), open));
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("{} devices have a memory {}; name it with its provider: {}", matches,
                          to_text(wanted), open));
}

}  // namespace ephost::session
