// MemoryInfo: which memory a value lies in. As ONNX Runtime's OrtMemoryInfo.
#pragma once

#include <cstdint>
#include <string>

namespace ephost {

// Kinds of memory of one device, numbered as ONNX Runtime's OrtMemType.
enum class MemoryType : int32_t {
  kCpuInput = -2,   // host memory that the device reads inputs from
  kCpuOutput = -1,  // host memory that the device writes outputs to
  kDefault = 0,     // the device's own memory
};

// A plain value; as it is made, host memory.
struct MemoryInfo {
  // For the memory of a device its provider's short name and the plugin's name for it, "acme.npu".
  std::string name = "Cpu";
  std::string device_type = "cpu";  // as EpDevice::type
  int32_t device_id = 0;            // a number from 0 among the devices of that type
  MemoryType memory_type = MemoryType::kDefault;

  [[nodiscard]] static MemoryInfo cpu() { return {}; }
  // Whether it is host memory, which all three kinds of a CPU's are.
  [[nodiscard]] bool is_cpu() const {
    return name == "Cpu" && device_type == "cpu" && device_id == 0;
  }
  friend bool operator==(const MemoryInfo&, const MemoryInfo&) = default;
};

}  // namespace ephost
