// The examined provider in sessions: what the checks of claims, runs, lifecycles and contexts
// share.
#pragma once

#include <ephost/environment.h>
#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/conformance/kit/check.h"

namespace ephost::conformance {

// What the layer `validate` says in the log. May be used by any thread.
class LayerFindings {
 public:
  // Takes the lines that the layer writes, and ignores others.
  void add(std::string_view line);
  [[nodiscard]] bool empty() const;
  // Fails with each of them, as found in `where`, and forgets them.
  void report(std::string_view where, Report& report);

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;  // without those that are there already
};

class Bench {
 public:
  // NOT_FOUND if the subject's provider is not among the plugins of its paths.
  [[nodiscard]] static Result<Bench> open(const Subject& subject);

  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] const Environment& environment() const { return environment_; }
  [[nodiscard]] const InstalledPlugin& plugin() const { return plugin_; }
  [[nodiscard]] bool is_full() const { return subject_.level == Level::kFull; }
  template <class T>
  [[nodiscard]] T by_level(T basic, T full) const {
    return is_full() ? full : basic;
  }
  [[nodiscard]] std::chrono::milliseconds by_level(std::chrono::milliseconds basic,
                                                   std::chrono::milliseconds full) const {
    return (is_full() ? full : basic) * subject_.time_factor;
  }

  // Options with which the provider takes what it can, and the CPU provider the rest; with options
  // of the provider.
  [[nodiscard]] SessionOptions options(const OptionList& of_provider = {}) const;
  // The same with the layer `validate` over the provider; `guard` is "zones" or "pages".
  [[nodiscard]] SessionOptions guarded(std::string_view guard = "zones") const;
  // What that layer has found in such sessions since the last call: also what fails no call, what
  // makes the host fall back, and what it finds when a session ends.
  [[nodiscard]] LayerFindings& layer_findings() const { return *layer_findings_; }
  // The CPU provider alone.
  [[nodiscard]] static SessionOptions reference();

  // The model is borrowed as long as the session lives.
  [[nodiscard]] Result<Session> load(const std::string& model, const SessionOptions& options) const;
  // Keeps a session until the end, so that the library is not mapped again for each session. Fails
  // as creating it fails.
  [[nodiscard]] Status keep_loaded();
  // How many nodes of the session's model are the provider's.
  [[nodiscard]] uint64_t nodes_of(const Session& session) const;

 private:
  Bench(const Subject& subject, std::shared_ptr<LayerFindings> layer_findings,
        Environment environment, InstalledPlugin plugin)
      : subject_(subject),
        layer_findings_(std::move(layer_findings)),
        environment_(std::move(environment)),
        plugin_(std::move(plugin)) {}

  Subject subject_;
  std::shared_ptr<LayerFindings> layer_findings_;
  Environment environment_;
  InstalledPlugin plugin_;
  std::shared_ptr<const std::string> keeper_model_;
  std::optional<Session> keeper_;
};

// Leaves the check out where there is no session with the provider: other checks say why.
[[nodiscard]] std::optional<Bench> need_bench(const Subject& subject, Report& report);

}  // namespace ephost::conformance
