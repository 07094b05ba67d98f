// The limits of what a session allocates in the memories of devices (session.device_memory_limit).
// Its specialisations share them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "host/bridge/extensions/device.h"

namespace ephost::session {

// Any number of threads.
class DeviceBudgets {
 public:
  // `limit`: bytes in each memory.
  explicit DeviceBudgets(uint64_t limit) : limit_(limit) {}

  [[nodiscard]] std::shared_ptr<bridge::MemoryBudget> budget_of(
      const bridge::DeviceMemory& memory) {
    const std::lock_guard lock(mutex_);
    auto& budget = budgets_[{memory.device.get(), memory.number}];
    if (budget == nullptr) budget = std::make_shared<bridge::MemoryBudget>(limit_);
    return budget;
  }

 private:
  const uint64_t limit_;
  std::mutex mutex_;
  std::map<std::pair<const bridge::Device*, uint32_t>, std::shared_ptr<bridge::MemoryBudget>>
      budgets_;
};

}  // namespace ephost::session
