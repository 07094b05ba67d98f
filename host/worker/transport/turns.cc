#include "host/worker/transport/turns.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace ephost::worker {
namespace {

// Longer than a small kernel runs, and about as long as waking a thread takes.
constexpr std::chrono::microseconds kSpin{20};
// Waits in a row that spinning did not cover before spinning stops, and how many are then skipped
// before it is tried again.
constexpr uint32_t kMisses = 4;
constexpr uint32_t kSkips = 32;

bool has_several_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
}

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool spin(const ChannelPage& page, uint32_t mine) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (page.turn.load(std::memory_order_acquire) != mine) return true;
      pause_briefly();
    }
  } while (Clock::now() < end);
  return false;
}

uint32_t* futex_of(ChannelPage& page) { return reinterpret_cast<uint32_t*>(&page.turn); }

void sleep_while(ChannelPage& page, uint32_t value, std::chrono::nanoseconds longest) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec timeout = {.tv_sec = static_cast<time_t>(seconds.count()),
                            .tv_nsec = static_cast<long>((longest - seconds).count())};
  ::syscall(SYS_futex, futex_of(page), FUTEX_WAIT, value, &timeout, nullptr, 0);
}

}  // namespace

bool SpinBudget::should_spin() noexcept {
  static const bool kPays = has_several_processors();
  if (!kPays) return false;
  if (misses_ < kMisses) return true;
  if (++skipped_ < kSkips) return false;
  skipped_ = 0;
  return true;
}

void SpinBudget::record(bool was_in_time) noexcept {
  if (was_in_time) {
    misses_ = 0;
  } else if (misses_ < kMisses) {
    ++misses_;
  }
}

void wake(ChannelPage& page) noexcept {
  ::syscall(SYS_futex, futex_of(page), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void pass_turn(ChannelPage& page, Turn turn) noexcept {
  const uint32_t before =
      page.turn.exchange(static_cast<uint32_t>(turn), std::memory_order_acq_rel);
  if ((before & kSleeping) != 0) wake(page);
}

uint32_t wait_for_turn(ChannelPage& page, Turn mine_was, SpinBudget& budget,
                       std::chrono::nanoseconds slice) noexcept {
  const auto mine = static_cast<uint32_t>(mine_was);
  uint32_t now = page.turn.load(std::memory_order_acquire);
  if (now == mine && budget.should_spin()) {
    budget.record(spin(page, mine));
    now = page.turn.load(std::memory_order_acquire);
  }
  if ((now & ~kSleeping) != mine) return now & ~kSleeping;
  const uint32_t asleep = mine | kSleeping;
  if (now == asleep || page.turn.compare_exchange_strong(now, asleep, std::memory_order_acq_rel)) {
    sleep_while(page, asleep, slice);
    now = page.turn.load(std::memory_order_acquire);
  }
  return now & ~kSleeping;
}

}  // namespace ephost::worker
