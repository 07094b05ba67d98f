// The devices that a session would use, opened, and blocks of their memories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "host/bridge/extensions/device.h"
#include "host/conformance/kit/check.h"

namespace ephost::conformance {

// The memories of the devices that a session would use, which are open as long as the object lives;
// none if the plugin opens no devices, or is broken.
struct Memories {
  std::vector<bridge::DeviceMemory> all;
};

// Nothing where there are none, with a reason in the report; what is broken is a finding if the
// check `judges` that.
[[nodiscard]] std::optional<Memories> need_memories(const Subject& subject, Report& report,
                                                    bool judges);

// Blocks of one memory, released with the object.
class Blocks {
 public:
  explicit Blocks(const bridge::DeviceMemory& memory) : memory_(memory) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks();

  // Null after a failure, which becomes a finding.
  std::byte* allocate(uint64_t size, Report& report);
  void release_any(std::mt19937_64& random);
  [[nodiscard]] bool empty() const { return blocks_.empty(); }

 private:
  const bridge::DeviceMemory& memory_;
  std::vector<std::byte*> blocks_;
};

[[nodiscard]] std::vector<std::byte> random_bytes(size_t size, std::mt19937_64& random);

}  // namespace ephost::conformance
