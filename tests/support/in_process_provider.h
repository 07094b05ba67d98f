// A provider that is part of the test binary: classes on <ephost/plugin.hpp>, without a library, so
// that tests of the bridge and of the runtime reach every corner of the ABI from one place.
#pragma once

#include <gtest/gtest.h>

#include <ephost/plugin.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/bridge/provider.h"
#include "tests/support/status_matchers.h"

namespace ephost::test {

// What tests see of calls in the plugin.
struct PluginLogEntry {
  bridge::Severity severity;
  std::string message;
};

// A LoadedPlugin as if the manifest had named it. P is a class as EPH_DEFINE_PLUGIN takes it.
template <class P>
std::shared_ptr<const plugin::LoadedPlugin> in_process_plugin() {
  auto loaded = std::make_shared<plugin::LoadedPlugin>();
  loaded->manifest.provider = std::string(P::kTypeName);
  loaded->manifest.name = std::string(P::kName);
  loaded->manifest.vendor = std::string(P::kVendor);
  loaded->manifest.context_sources = {"test." + std::string(P::kName)};
  static constexpr eph_provider_api kTable = eph::detail::ProviderTable<P>::make();
  loaded->api_self = &eph::detail::PluginTables<P>::kApi;
  loaded->api = *loaded->api_self;
  loaded->provider = kTable;
  loaded->provider_self = &kTable;
  return loaded;
}

template <class P>
std::shared_ptr<bridge::Provider> create_in_process(std::vector<manifest::TypedOption> options = {},
                                                    bridge::PluginLog log = {}) {
  auto services = std::make_unique<bridge::HostServices>(std::string(P::kTypeName), std::move(log),
                                                         bridge::ProgressHooks{});
  auto provider = bridge::Provider::create(in_process_plugin<P>(), {.options = std::move(options)},
                                           std::move(services));
  EXPECT_THAT(provider, IsOk());
  return std::move(provider).value();
}

}  // namespace ephost::test
