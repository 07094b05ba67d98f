// Rules 37 and 38: the memory of a device.
#include <ephost/ext/device_memory.h>
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/extensions/device_memory.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/probe.h"
#include "host/plugin/adopt.h"

namespace ephost::conformance {
namespace {

using bridge::DeviceMemory;
using std::chrono::seconds;

// A provider with its memories; none if it offers no memory, or is broken.
struct Memories {
  std::unique_ptr<LiveProvider> provider;
  eph_device_memory_api api = {};
  DeviceMemory memories;
};

std::optional<Memories> need_memories(const Subject& subject, Report& report, bool judges) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return std::nullopt;
  Memories found;
  found.provider = std::make_unique<LiveProvider>(plugin, report);
  if (found.provider->get() == nullptr) return std::nullopt;
  const plugin::CallSite site = {plugin->manifest.provider, "get_extension"};
  const void* table = nullptr;
  if (plugin->provider.get_extension != nullptr) {
    const auto given = plugin::call(site, plugin->provider.get_extension, found.provider->get(),
                                    bridge::to_abi(EPH_EXT_DEVICE_MEMORY));
    if (given.ok()) table = *given;
  }
  if (table == nullptr) {
    report.leave_out("the provider has no memory of its own");
    return std::nullopt;
  }
  const auto api = plugin::adopt<eph_device_memory_api>(table, site);
  Status status = api.status();
  if (api.ok()) {
    found.api = *api;
    auto memories = DeviceMemory::create(*api, found.provider->get(), plugin->manifest.provider);
    if (memories.ok()) {
      found.memories = std::move(*memories);
      return found;
    }
    status = memories.status();
  }
  if (judges) {
    report.fail(text_of(status), "fill the table and its memories as ext/device_memory.h says");
  } else {
    report.leave_out("the memories are broken; check 37.1 says why");
  }
  return std::nullopt;
}

void check_memories(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_memories(subject, report, true);
  if (found) report.note("memories", static_cast<double>(found->memories.memories().size()));
}

// Blocks of one memory, released with the object.
class Blocks {
 public:
  Blocks(const DeviceMemory& memories, uint32_t memory) : memories_(memories), memory_(memory) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    for (std::byte* const block : blocks_) memories_.release(memory_, block);
  }

  // Null after a failure, which becomes a finding.
  std::byte* allocate(uint64_t size, Report& report) {
    const auto block = memories_.allocate(memory_, size, "the conformance kit");
    if (!block.ok()) {
      report.fail(text_of(block.status()),
                  "allocate any size above 0, with the alignment that the memory declares");
      return nullptr;
    }
    blocks_.push_back(*block);
    return *block;
  }
  void release_any(std::mt19937_64& random) {
    const size_t index = random() % blocks_.size();
    memories_.release(memory_, blocks_[index]);
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(index));
  }
  [[nodiscard]] bool empty() const { return blocks_.empty(); }

 private:
  const DeviceMemory& memories_;
  const uint32_t memory_;
  std::vector<std::byte*> blocks_;
};

std::vector<uint64_t> odd_sizes() { return {1, 2, 3, 63, 64, 65, 4095, 4096, 4097, 1000003}; }

void check_allocations(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_memories(subject, report, false);
  if (!found) return;
  std::mt19937_64 random(subject.seed);
  const int rounds = subject.level == Level::kFull ? 2000 : 200;
  for (uint32_t memory = 1; memory <= found->memories.memories().size(); ++memory) {
    Blocks blocks(found->memories, memory);
    for (const uint64_t size : odd_sizes()) {
      if (blocks.allocate(size, report) == nullptr) return;
    }
    for (int i = 0; i < rounds; ++i) {
      if (random() % 2 == 0 && !blocks.empty()) {
        blocks.release_any(random);
      } else if (blocks.allocate(1 + random() % 5000, report) == nullptr) {
        return;
      }
    }
  }
}

std::vector<std::byte> random_bytes(size_t size, std::mt19937_64& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// To a block, to another one, at an offset of it, and back.
void judge_round_trip(const DeviceMemory& memories, uint32_t memory, uint64_t size, uint64_t offset,
                      std::mt19937_64& random, Report& report) {
  Blocks blocks(memories, memory);
  std::byte* const first = blocks.allocate(offset + size, report);
  std::byte* const second = blocks.allocate(offset + size, report);
  if (first == nullptr || second == nullptr) return;
  const std::vector<std::byte> before = random_bytes(size, random);
  std::vector<std::byte> after(size);
  const std::string_view what = "the conformance kit";
  Status status =
      memories.copy(memory, first + offset, bridge::kHostMemory, before.data(), size, what);
  if (status.ok()) {
    status = memories.copy(memory, second + offset, memory, first + offset, size, what);
  }
  if (status.ok()) {
    status = memories.copy(bridge::kHostMemory, after.data(), memory, second + offset, size, what);
  }
  if (!status.ok()) {
    report.fail(text_of(status), "copy any number of bytes between any two memories");
  } else if (after != before) {
    report.fail(formatted("{} bytes come back changed from {} at offset {}", size,
                          quote(memories.name_of(memory)), offset),
                "copy all bytes before the function returns, from and to any offset");
  }
}

void check_copies(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_memories(subject, report, false);
  if (!found) return;
  std::mt19937_64 random(subject.seed);
  for (uint32_t memory = 1; memory <= found->memories.memories().size(); ++memory) {
    for (const uint64_t size : odd_sizes()) {
      for (const uint64_t offset : {0U, 1U, 64U, 129U}) {
        judge_round_trip(found->memories, memory, size, offset, random, report);
        if (!report.findings().empty()) return;
      }
    }
  }
}

void check_exhaustion(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_memories(subject, report, false);
  if (!found) return;
  for (uint32_t memory = 1; memory <= found->memories.memories().size(); ++memory) {
    for (const uint64_t size : {uint64_t{1} << 56U, uint64_t{1} << 62U, ~uint64_t{0}}) {
      KitError error;
      void* data = nullptr;
      const auto code =
          plugin::call({subject.provider, "allocate"}, found->api.allocate, found->provider->get(),
                       memory, size, &data, static_cast<eph_error*>(&error));
      if (code.ok() && *code != EPH_OK && data == nullptr && !error.message().empty()) continue;
      if (!code.ok()) {
        report.fail(text_of(code.status()), "catch everything within the function");
      } else if (*code == EPH_OK) {
        report.fail(formatted("allocate succeeds for {} bytes", size),
                    "fail with EPH_OUT_OF_MEMORY where memory runs out");
      } else {
        report.fail(formatted("allocate fails for {} bytes and {}", size,
                              data != nullptr ? "gives an address, too" : "has no message"),
                    "set *out_data to null first, and say what failed");
      }
      return;
    }
  }
}

constexpr std::array kMemoryChecks = {
    Check{37, 1, "memories", "The memories of the provider make sense", Level::kBasic, seconds(60),
          &check_memories},
    Check{38, 1, "allocations", "Blocks of any size are allocated, aligned and freed in any order",
          Level::kBasic, seconds(60), &check_allocations},
    Check{38, 2, "copies", "Bytes arrive unchanged, at any offset", Level::kBasic, seconds(60),
          &check_copies},
    Check{38, 3, "exhaustion", "More memory than there is gives a failure with a message",
          Level::kBasic, seconds(60), &check_exhaustion}};

}  // namespace

std::span<const Check> memory_checks() { return kMemoryChecks; }

}  // namespace ephost::conformance
