// The examined provider in sessions: what the checks of claims, runs, lifecycles and contexts
// share.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/conformance/check.h"
#include "host/session/environment.h"
#include "host/session/session.h"
#include "host/session/session_options.h"

namespace ephost::conformance {

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

  // Options with which the provider takes what it can, and the CPU provider the rest.
  [[nodiscard]] SessionOptions options() const;
  // The same with the layer `validate` over the provider; `guard` is "zones" or "pages".
  [[nodiscard]] SessionOptions guarded(std::string_view guard = "zones") const;
  // The CPU provider alone.
  [[nodiscard]] static SessionOptions reference();

  // The model is borrowed as long as the session lives.
  [[nodiscard]] Result<Session> load(const std::string& model, const SessionOptions& options) const;
  // Keeps a session until the end, so that the library is not mapped for each session anew. Fails
  // with what creating it fails with.
  [[nodiscard]] Status keep_loaded();
  // How many nodes of the session's model are the provider's.
  [[nodiscard]] uint64_t nodes_of(const Session& session) const;

 private:
  Bench(const Subject& subject, Environment environment, InstalledPlugin plugin)
      : subject_(subject), environment_(std::move(environment)), plugin_(std::move(plugin)) {}

  Subject subject_;
  Environment environment_;
  InstalledPlugin plugin_;
  std::shared_ptr<const std::string> keeper_model_;
  std::optional<Session> keeper_;
};

// Leaves the check out where there is no session with the provider: other checks say why.
[[nodiscard]] std::optional<Bench> need_bench(const Subject& subject, Report& report);

}  // namespace ephost::conformance
