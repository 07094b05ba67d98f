#include "host/session/plugins/provider_workers.h"

#include <algorithm>
#include <utility>

namespace ephost::session {

std::shared_ptr<worker::WorkerHealth> ProviderWorkers::health_of(
    const manifest::Manifest& manifest) const {
  if (config_.of(manifest) == OnCrash::kFail) return nullptr;
  return std::make_shared<worker::WorkerHealth>();
}

void ProviderWorkers::add(const manifest::Manifest& manifest,
                          std::shared_ptr<const worker::WorkerHealth> health) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({manifest.provider, manifest.name, config_.of(manifest), std::move(health)});
  has_been_used_ = true;
}

void ProviderWorkers::add(const std::shared_ptr<const ProviderWorkers>& other) {
  const std::lock_guard lock(mutex_);
  std::erase_if(others_, [](const auto& known) { return known.expired(); });
  others_.push_back(other);
}

void ProviderWorkers::add_ended(const ProviderWorkers& other, bool with_restarts) {
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (const Entry& entry : other.entries_) {
    const bool counts = with_restarts || entry.policy == OnCrash::kFallback;
    if (counts && !entry.health->status().ok()) entries_.push_back(entry);
  }
}

void ProviderWorkers::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  working_.clear();
  has_been_used_ = false;
  others_.clear();
}

void ProviderWorkers::note_working(std::set<std::string> names) {
  const std::lock_guard lock(mutex_);
  working_ = std::move(names);
}

void ProviderWorkers::forget_idle() {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return !working_.contains(entry.name); });
}

bool ProviderWorkers::empty() const {
  const std::lock_guard lock(mutex_);
  return entries_.empty() && others_.empty();
}

bool ProviderWorkers::has_been_used() const {
  const std::lock_guard lock(mutex_);
  return has_been_used_;
}

std::vector<LostProvider> ProviderWorkers::lost() const {
  std::vector<LostProvider> lost;
  const auto add_once = [&](LostProvider one) {
    if (std::ranges::find(lost, one.name, &LostProvider::name) == lost.end()) {
      lost.push_back(std::move(one));
    }
  };
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    Status reason = entry.health->status();
    if (!reason.ok()) add_once({entry.name, entry.short_name, entry.policy, std::move(reason)});
  }
  for (const auto& one : others_) {
    const std::shared_ptr<const ProviderWorkers> other = one.lock();
    if (other == nullptr) continue;
    for (LostProvider& found : other->lost()) add_once(std::move(found));
  }
  return lost;
}

}  // namespace ephost::session
