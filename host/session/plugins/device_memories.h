// The memories of devices as applications name them.
#pragma once

#include <ephost/status.h>
#include <ephost/types/memory_info.h>

#include <optional>

#include "host/bridge/extensions/device.h"

namespace ephost::session {

// Its name is the provider's short name and the memory's, "acme.npu".
[[nodiscard]] MemoryInfo describe_memory(const bridge::DeviceMemory& memory);

// The memory of a device that this process has open; nothing for the host's. The name may also be
// the memory's alone, or empty for the first one of the device. INVALID_ARGUMENT if no open
// device has it, or several have.
[[nodiscard]] Result<std::optional<bridge::DeviceMemory>> find_memory(const MemoryInfo& wanted);

}  // namespace ephost::session
