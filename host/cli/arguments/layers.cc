#include "host/cli/arguments/layers.h"

#include <string_view>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/defaults.h"

namespace ephost::cli {
namespace {

constexpr std::string_view kLayers = "session.layers";

std::string with_trace(const std::string& names) {
  if (names.empty()) return "trace";
  if (formatted(";{};", names).find(";trace;") != std::string::npos) return names;
  return names + ";trace";
}

}  // namespace

void add_layers(const std::vector<std::string>& named, SessionOptions& options) {
  if (!named.empty()) options.add_config_entry(std::string(kLayers), join(named, ";"));
}

void add_trace(SessionOptions& options) {
  bool has_layers = false;
  for (const auto& [key, names] : options.config_entries()) {
    if (key != kLayers && !key.starts_with(formatted("{}.", kLayers))) continue;
    has_layers = true;
    options.add_config_entry(key, with_trace(names));
  }
  if (options.config_entry(std::string(kLayers))) return;
  // Where no entry lists layers, the session would have those of the environment.
  const std::string by_default = has_layers ? std::string() : default_layers();
  options.add_config_entry(std::string(kLayers), with_trace(by_default));
}

}  // namespace ephost::cli
