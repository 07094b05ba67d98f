// Host side of ephost.run/1: the begin, end and options of a provider's runs.
#pragma once

#include <ephost/ext/run.h>
#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "host/manifest/options.h"

namespace ephost::bridge {

class RunExtension {
 public:
  // For a provider that does not offer the extension.
  RunExtension() = default;
  // Borrows the provider and its name.
  RunExtension(const eph_run_provider_api& api, eph_provider* provider, std::string_view owner)
      : api_(api), provider_(provider), owner_(owner) {}

  // Whether the provider has functions that are called for a run.
  [[nodiscard]] bool wants_runs() const {
    return api_.begin_run != nullptr || api_.end_run != nullptr;
  }
  // Whether options for a run reach the provider.
  [[nodiscard]] bool takes_run_options() const { return api_.begin_run != nullptr; }
  [[nodiscard]] bool takes_changes() const { return api_.set_options != nullptr; }

  // These three may be called by any number of threads at once, except for `set_options`. Each does
  // nothing where the provider lacks the function.
  [[nodiscard]] Status begin(const eph_run_config& config) const;
  [[nodiscard]] Status end(uint64_t run_id, StatusCode code) const;
  [[nodiscard]] Status set_options(std::span<const manifest::TypedOption> options) const;

 private:
  eph_run_provider_api api_ = {};
  eph_provider* provider_ = nullptr;
  std::string_view owner_;
};

}  // namespace ephost::bridge
