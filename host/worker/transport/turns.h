// Waiting for the other end of a channel: spins for as long as that paid off lately, then sleeps in
// the kernel.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "host/worker/transport/channel_page.h"

namespace ephost::worker {

// How long one end of a channel spins before it sleeps. Used by one thread at a time.
class SpinBudget {
 public:
  // Whether this wait should spin: not with a single processor, and only now and then after waits
  // that took longer than spinning would.
  [[nodiscard]] bool should_spin() noexcept;
  void record(bool was_in_time) noexcept;

 private:
  uint32_t misses_ = 0;  // in a row
  uint32_t skipped_ = 0;
};

// Gives the turn away and wakes the other end if it sleeps.
void pass_turn(ChannelPage& page, Turn turn) noexcept;

// Wakes the other end if it sleeps, whichever end has the turn.
void wake(ChannelPage& page) noexcept;

// Waits until the turn is no longer `mine_was`, the value that was passed on last, or until `slice`
// is over. Returns the turn as it is then, without kSleeping, which the other end may have set to
// anything.
[[nodiscard]] uint32_t wait_for_turn(ChannelPage& page, Turn mine_was, SpinBudget& spin,
                                     std::chrono::nanoseconds slice) noexcept;

}  // namespace ephost::worker
