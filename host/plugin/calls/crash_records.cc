#include "host/plugin/calls/crash_records.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace ephost::plugin {
namespace {

// A signal handler must not wait for a lock that its own thread may have.
std::atomic<bool> is_locked{false};

// Never destroyed: a process may crash at its very end.
std::vector<const CrashRecord*>& all_records() {
  static auto* const records = new std::vector<const CrashRecord*>();
  return *records;
}

class ListLock {
 public:
  ListLock() {
    while (is_locked.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  ListLock(const ListLock&) = delete;
  ListLock& operator=(const ListLock&) = delete;
  ~ListLock() { is_locked.store(false, std::memory_order_release); }
};

}  // namespace

CrashRecord::CrashRecord(std::vector<std::string> providers, PreparedFailure failure)
    : providers_(std::move(providers)), failure_(std::move(failure)) {
  const ListLock lock;
  all_records().push_back(this);
}

CrashRecord::~CrashRecord() {
  const ListLock lock;
  std::erase(all_records(), this);
}

void record_crash(const CallSite& site, std::string_view what) noexcept {
  if (is_locked.exchange(true, std::memory_order_acquire)) return;
  const PreparedFailure* found = nullptr;
  bool is_clear = true;
  for (const CrashRecord* record : all_records()) {
    if (std::ranges::find(record->providers_, site.provider) == record->providers_.end()) continue;
    is_clear = found == nullptr || *found == record->failure_;
    found = &record->failure_;
    if (!is_clear) break;
  }
  if (found != nullptr && is_clear) found->append(what);
  is_locked.store(false, std::memory_order_release);
}

}  // namespace ephost::plugin
