// EpDevice: a device that an execution provider can use, or compile for.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ephost {

// A plain value. Texts are empty where the provider does not say.
struct EpDevice {
  std::string provider;       // type name of the provider, e.g. "CPUExecutionProvider"
  std::string provider_name;  // its short name, e.g. "cpu"
  // Names the device among those of the provider, and stays the same over restarts.
  std::string id;
  std::string type;  // "cpu", "gpu", "npu" or "other"
  std::string name;
  std::string vendor;
  uint32_t vendor_id = 0;  // as assigned by the PCI-SIG; 0: none
  uint32_t device_id = 0;
  std::string architecture;
  std::string driver_version;
  uint64_t memory_bytes = 0;  // 0: not known
  // Not in this machine, or simulated: used only by a session that names it.
  bool is_virtual = false;
  std::vector<std::pair<std::string, std::string>> metadata;  // keys are unique
};

}  // namespace ephost
