// EpDevice: a device that an execution provider can use, or compile for; and the policies by which
// a session can choose among all devices of the machine.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ephost {

// A plain value. Texts are empty where the provider does not say.
struct EpDevice {
  std::string provider;       // type name of the provider, e.g. "CPUExecutionProvider"
  std::string provider_name;  // its short name, e.g. "cpu"
  std::string provider_vendor;
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

// A provider whose devices could not be listed, because its plugin could not be loaded or failed.
struct UnlistedProvider {
  std::string provider;  // type name
  Status reason;
};

struct EpDeviceList {
  std::vector<EpDevice> devices;         // by provider, in the provider's own order
  std::vector<UnlistedProvider> failed;  // they have no entry in `devices`
};

// How a session chooses providers and devices by itself; ONNX Runtime's
// OrtExecutionProviderDevicePolicy. Each takes the best device of the type that it prefers, if
// there is one, and then the best CPU device; the CPU provider is always last. Of several devices
// of one type, the best one is a discrete GPU (metadata "Discrete" is "1") before others, then one
// whose vendor is the provider's, then the first one by type name of the provider. Virtual devices
// are never chosen.
enum class EpDevicePolicy {
  kDefault,  // the same as kPreferCpu
  kPreferCpu,
  kPreferNpu,
  kPreferGpu,
  kMaxPerformance,   // the same as kPreferGpu
  kMaxEfficiency,    // the same as kPreferNpu
  kMinOverallPower,  // the same as kPreferNpu
};

}  // namespace ephost
