// Rules 37 and 38: the memory of a device.
#include <ephost/ext/device.h>
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/extensions/device.h"
#include "host/conformance/devices/opened_devices.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/probe.h"

namespace ephost::conformance {
namespace {

using bridge::Device;
using bridge::DeviceMemory;
using std::chrono::seconds;

void check_memories(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_memories(subject, report, true);
  if (found) report.note("memories", static_cast<double>(found->all.size()));
}

std::vector<uint64_t> odd_sizes() { return {1, 2, 3, 63, 64, 65, 4095, 4096, 4097, 1000003}; }

void check_allocations(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_memories(subject, report, false);
  if (!found) return;
  std::mt19937_64 random(subject.seed);
  const int rounds = subject.level == Level::kFull ? 2000 : 200;
  for (const DeviceMemory& memory : found->all) {
    Blocks blocks(memory);
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

// To a block, to another one, at an offset of it, and back.
void judge_round_trip(const DeviceMemory& memory, uint64_t size, uint64_t offset,
                      std::mt19937_64& random, Report& report) {
  const Device& device = *memory.device;
  const uint32_t number = memory.number;
  Blocks blocks(memory);
  std::byte* const first = blocks.allocate(offset + size, report);
  std::byte* const second = blocks.allocate(offset + size, report);
  if (first == nullptr || second == nullptr) return;
  const std::vector<std::byte> before = random_bytes(size, random);
  std::vector<std::byte> after(size);
  const std::string_view what = "the conformance kit";
  Status status =
      device.copy(number, first + offset, bridge::kHostMemory, before.data(), size, what);
  if (status.ok()) {
    status = device.copy(number, second + offset, number, first + offset, size, what);
  }
  if (status.ok()) {
    status = device.copy(bridge::kHostMemory, after.data(), number, second + offset, size, what);
  }
  if (!status.ok()) {
    report.fail(text_of(status), "copy any number of bytes between any two memories");
  } else if (after != before) {
    report.fail(formatted("{} bytes come back changed from {} at offset {}", size,
                          device.name_of(number), offset),
                "copy all bytes before the function returns, from and to any offset");
  }
}

void check_copies(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_memories(subject, report, false);
  if (!found) return;
  std::mt19937_64 random(subject.seed);
  for (const DeviceMemory& memory : found->all) {
    for (const uint64_t size : odd_sizes()) {
      for (const uint64_t offset : {0U, 1U, 64U, 129U}) {
        judge_round_trip(memory, size, offset, random, report);
        if (!report.findings().empty()) return;
      }
    }
  }
}

void check_exhaustion(const Subject& subject, Report& report) {
  const std::optional<Memories> found = need_memories(subject, report, false);
  if (!found) return;
  for (const DeviceMemory& memory : found->all) {
    for (const uint64_t size : {uint64_t{1} << 56U, uint64_t{1} << 62U, ~uint64_t{0} << 30U}) {
      const auto block = memory.device->allocate(memory.number, size, "the conformance kit");
      if (block.ok()) {
        memory.device->release(memory.number, *block);
        return report.fail(formatted("allocate succeeds for {} bytes", size),
                           "fail with EPH_OUT_OF_MEMORY where memory runs out");
      }
      if (block.status().code() == StatusCode::kOutOfMemory) continue;
      return report.fail(text_of(block.status()),
                         "fail with EPH_OUT_OF_MEMORY where memory runs out, and say of what");
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
