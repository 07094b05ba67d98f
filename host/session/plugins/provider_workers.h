// The workers of a session's providers, as far as anything but a failure follows from their end.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "host/manifest/manifest.h"
#include "host/session/config/on_crash.h"
#include "host/worker/tables/worker_health.h"

namespace ephost::session {

// A provider whose worker has ended.
struct LostProvider {
  std::string name;
  std::string short_name;
  OnCrash policy = OnCrash::kFail;  // never kFail
  Status reason;                    // `the worker of "acme" died of ...`
};

// Safe from any thread.
class ProviderWorkers {
 public:
  explicit ProviderWorkers(OnCrashConfig config) : config_(std::move(config)) {}

  // What the workers of a plugin report to; null if nothing follows from their end.
  [[nodiscard]] std::shared_ptr<worker::WorkerHealth> health_of(
      const manifest::Manifest& manifest) const;
  // The workers of a provider, or of a plugin that was to provide it.
  void add(const manifest::Manifest& manifest, std::shared_ptr<const worker::WorkerHealth> health);
  // Those of a specialisation count too, as long as it exists.
  void add(const std::shared_ptr<const ProviderWorkers>& other);
  // Adds those of a specialisation that was not finished which have ended: those of providers that
  // the session has to do without, and `with_restarts`, those that are to get another one.
  void add_ended(const ProviderWorkers& other, bool with_restarts);
  // Forgets all of them, as another attempt begins, with workers of its own.
  void clear();
  // The names of the providers that runs call.
  void note_working(std::set<std::string> names);
  // Forgets the workers of all others.
  void forget_idle();

  [[nodiscard]] const OnCrashConfig& config() const { return config_; }
  [[nodiscard]] bool empty() const;
  // Whether there were workers, even if they were forgotten.
  [[nodiscard]] bool has_been_used() const;
  // Those whose workers have ended, each once.
  [[nodiscard]] std::vector<LostProvider> lost() const;

 private:
  struct Entry {
    std::string name;
    std::string short_name;
    OnCrash policy;
    std::shared_ptr<const worker::WorkerHealth> health;
  };

  const OnCrashConfig config_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::set<std::string> working_;
  bool has_been_used_ = false;
  std::vector<std::weak_ptr<const ProviderWorkers>> others_;
};

}  // namespace ephost::session
