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
  // What DLPack calls the memory of a device, a DLDeviceType and its number; type 0: nothing.
  int32_t dlpack_type = 0;
  int32_t dlpack_id = 0;

  [[nodiscard]] static MemoryInfo cpu() { return {}; }
  // The memory of an open device that DLPack calls so.
  [[nodiscard]] static MemoryInfo of_dlpack(int32_t type, int32_t id) {
    return {.name = "",
            .device_type = "",
            .device_id = 0,
            .memory_type = MemoryType::kDefault,
            .dlpack_type = type,
            .dlpack_id = id};
  }
  [[nodiscard]] bool is_of_dlpack() const { return device_type.empty() && dlpack_type != 0; }
  // Whether it is host memory, which all three kinds of a CPU's are.
  [[nodiscard]] bool is_cpu() const {
    return name == "Cpu" && device_type == "cpu" && device_id == 0;
  }
  // Whether they name the same memory; what DLPack calls it then follows.
  friend bool operator==(const MemoryInfo& a, const MemoryInfo& b) {
    return a.name == b.name && a.device_type == b.device_type && a.device_id == b.device_id &&
           a.memory_type == b.memory_type &&
           (!a.is_of_dlpack() || (a.dlpack_type == b.dlpack_type && a.dlpack_id == b.dlpack_id));
  }
};

// How interfaces of others name memory of a device, and fences, which work waits for.
enum class ExternalKind : int32_t {
  kPointer = 0,      // what the device's own interface calls memory, e.g. a CUdeviceptr
  kHostPointer = 1,  // host memory, which the device then reads and writes itself
  kDmaBuf = 2,       // the file descriptor of a dma-buf
  kOpaqueFd = 3,     // a file descriptor that the device's own interface exports
  kQueue = 4,        // a fence: what a queue was given so far; 0 is the default queue
  kSyncFile = 5,     // a fence: the file descriptor of a sync file
};

struct External {
  ExternalKind kind = ExternalKind::kPointer;
  uint64_t handle = 0;  // an address, a queue or a file descriptor
  uint64_t offset = 0;  // of memory: where it begins in what `handle` names, in bytes
  uint64_t size = 0;    // of memory, in bytes
};

}  // namespace ephost
