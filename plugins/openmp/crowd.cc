#include "plugins/openmp/crowd.h"

#include <sys/resource.h>

#include <chrono>

namespace ephost_openmp {
namespace {

// Counters are read no more often, so that it costs nothing beside short runs.
constexpr uint64_t kInterval = 5000000;
// Time between runs that counts as theirs.
constexpr uint64_t kShortPause = 1000000;

}  // namespace

std::shared_ptr<Crowd> Crowd::shared() {
  static std::mutex mutex;
  static std::weak_ptr<Crowd> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Crowd> crowd = known.lock();
  if (crowd == nullptr) known = crowd = std::make_shared<Crowd>();
  return crowd;
}

uint64_t Crowd::now() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

Crowd::Counters Crowd::read_counters() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return {now(), static_cast<uint64_t>(usage.ru_nivcsw)};
}

void Crowd::begin() {
  const std::lock_guard lock(mutex_);
  if (running_++ == 0 && now() - ended_ > kShortPause) last_ = read_counters();
}

void Crowd::end(int team) {
  const std::lock_guard lock(mutex_);
  --running_;
  ended_ = now();
  if (ended_ - last_.nanoseconds < kInterval) return;
  const Counters current = read_counters();
  update(current.nanoseconds - last_.nanoseconds, current.switches - last_.switches, team);
  last_ = current;
}

void Crowd::add(uint64_t nanoseconds, uint64_t switches, int team) {
  const std::lock_guard lock(mutex_);
  update(nanoseconds, switches, team);
}

void Crowd::update(uint64_t nanoseconds, uint64_t switches, int team) {
  meter_.add(nanoseconds, switches);
  is_here_.store(meter_.is_crowded(), std::memory_order_relaxed);
  if (!meter_.is_crowded()) {
    least_team_ = 0;
  } else if (team > 1 && (least_team_ == 0 || team < least_team_)) {
    least_team_ = team;
  }
  waits_.apply_to(least_team_);
}

}  // namespace ephost_openmp
