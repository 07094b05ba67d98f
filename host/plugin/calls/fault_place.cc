#include "host/plugin/calls/fault_place.h"

#include <ucontext.h>

#include "host/base/named_ranges.h"
#include "host/plugin/calls/call_scope.h"

namespace ephost::plugin {
namespace {

enum class Access { kRead, kOther };

// Unknown accesses are taken for reading, as nearly all of them are.
Access access_of(const void* context) noexcept {
#if defined(__x86_64__)
  constexpr greg_t kWriteOrExecute = 0x12;  // bits of the page fault's error code
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return (registers[REG_ERR] & kWriteOrExecute) != 0 ? Access::kOther : Access::kRead;
#else
  (void)context;
  return Access::kRead;
#endif
}

// The run of any thread that was lent the address: a plugin's own threads are in no run.
LentPlace find_in_runs(uintptr_t address) noexcept {
  if (const ThreadCalls* const mine = ThreadCalls::mine_if_any()) {
    const LentPlace place = mine->find_lent(address);
    if (!place.where.empty()) return place;
  }
  LentPlace place;
  for (ThreadCalls* calls = ThreadCalls::first(); calls != nullptr; calls = calls->next()) {
    if (calls == ThreadCalls::mine_if_any()) continue;
    calls->try_with_snapshot(
        [&](const ThreadCalls::Snapshot&) { place = calls->find_lent(address); });
    if (!place.where.empty()) break;
  }
  return place;
}

}  // namespace

FaultPlace find_fault_place(const siginfo_t& info, const void* context) noexcept {
  FaultPlace fault;
  fault.address = reinterpret_cast<uintptr_t>(info.si_addr);
  const bool is_read = access_of(context) == Access::kRead;
  const FoundRange range = find_named_range(fault.address);
  if (!range.name.empty()) {
    fault.where = range.name;
    fault.is_applications = is_read && range.owner == RangeOwner::kApplication;
    return fault;
  }
  const LentPlace lent = find_in_runs(fault.address);
  fault.where = lent.where;
  fault.name = lent.name;
  fault.is_applications = !lent.where.empty() && (is_read || lent.is_writable);
  return fault;
}

}  // namespace ephost::plugin
