#include "host/conformance/devices/opened_devices.h"

#include "host/base/text.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/probe.h"

namespace ephost::conformance {

using bridge::Device;

std::optional<Memories> need_memories(const Subject& subject, Report& report, bool judges) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return std::nullopt;
  const auto services = kit_services(*plugin);
  Memories found;
  for (const bridge::DeviceInfo& info : default_devices(*plugin)) {
    const auto device = Device::open(plugin, *services, info);
    if (!device.ok()) {
      if (judges) {
        report.fail(text_of(device.status()),
                    "fill the table and its memories as ext/device.h says");
      } else {
        report.leave_out("the devices are broken; check 37.1 says why");
      }
      return std::nullopt;
    }
    if (*device == nullptr) break;
    for (uint32_t n = 1; n <= (*device)->memories().size(); ++n) found.all.push_back({*device, n});
  }
  if (!found.all.empty()) return found;
  report.leave_out("the plugin has no device with memory of its own");
  return std::nullopt;
}

Blocks::~Blocks() {
  for (std::byte* const block : blocks_) memory_.device->release(memory_.number, block);
}

std::byte* Blocks::allocate(uint64_t size, Report& report) {
  const auto block = memory_.device->allocate(memory_.number, size, "the conformance kit");
  if (!block.ok()) {
    report.fail(text_of(block.status()),
                "allocate any size above 0, with the alignment that the memory declares");
    return nullptr;
  }
  blocks_.push_back(*block);
  return *block;
}

void Blocks::release_any(std::mt19937_64& random) {
  const size_t index = random() % blocks_.size();
  memory_.device->release(memory_.number, blocks_[index]);
  blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(index));
}

std::vector<std::byte> random_bytes(size_t size, std::mt19937_64& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace ephost::conformance
