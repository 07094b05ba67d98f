#include "plugins/openmp/crowd.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>

namespace ephost_openmp {
namespace {

// Counters are read no more often, so that it costs nothing beside short runs.
constexpr uint64_t kInterval = 5000000;
// Time between runs that counts as theirs.
constexpr uint64_t kShortPause = 1000000;
// Time without runs after which none are expected.
constexpr uint64_t kLongPause = 1000000000;
// How long the next crowd takes over from the last.
constexpr uint64_t kMemory = 10000000000;

std::mutex shared_mutex;

// What the last crowd knew.
struct Known {
  CrowdMeter meter;
  uint64_t ended;  // when it did, in nanoseconds
};
std::optional<Known> last_known;

// Whether more threads of all programs want to run than there are processors. False if the system
// does not say.
bool is_overloaded() {
  std::ifstream file("/proc/loadavg");
  std::string load;
  int running = 0;
  file >> load >> load >> load >> running;  // "0.20 0.18 0.12 1/80 11206"
  return file && running > processor_count();
}

CrowdMeter first_guess() {
  CrowdMeter meter(processor_count());
  if (is_overloaded()) meter.suspect();
  return meter;
}

}  // namespace

std::shared_ptr<Crowd> Crowd::shared() {
  static std::weak_ptr<Crowd> known;
  const std::lock_guard lock(shared_mutex);
  std::shared_ptr<Crowd> crowd = known.lock();
  if (crowd != nullptr) return crowd;
  const bool is_fresh = last_known && now() - last_known->ended < kMemory;
  crowd.reset(new Crowd(is_fresh ? last_known->meter : first_guess()));
  known = crowd;
  return crowd;
}

Crowd::Crowd(const CrowdMeter& meter) : meter_(meter), is_here_(meter.is_crowded()) {}

Crowd::~Crowd() {
  const std::lock_guard lock(shared_mutex);
  last_known = {meter_, now()};
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

void Crowd::begin(int team) {
  const std::lock_guard lock(mutex_);
  if (running_++ == 0 && now() - ended_ > kShortPause) last_ = read_counters();
  const bool is_least = meter_.is_crowded() && (least_team_ == 0 || team < least_team_);
  if (!is_least && unhurried_team_ == 0) return;
  if (is_least) least_team_ = team;
  unhurried_team_ = 0;
  apply_bounds();
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

void Crowd::begin_unhurried(int team) {
  const std::lock_guard lock(mutex_);
  ++unhurried_;
  if (running_ != 0 || now() - ended_ < kLongPause) return;
  unhurried_team_ = unhurried_team_ == 0 ? team : std::min(team, unhurried_team_);
  apply_bounds();
}

void Crowd::end_unhurried() {
  const std::lock_guard lock(mutex_);
  if (--unhurried_ != 0 || unhurried_team_ == 0) return;
  unhurried_team_ = 0;
  apply_bounds();
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
  apply_bounds();
}

void Crowd::apply_bounds() {
  const bool is_both = least_team_ != 0 && unhurried_team_ != 0;
  waits_.apply_to(is_both ? std::min(least_team_, unhurried_team_)
                          : std::max(least_team_, unhurried_team_));
}

}  // namespace ephost_openmp
