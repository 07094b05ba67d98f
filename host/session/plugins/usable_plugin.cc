#include "host/session/plugins/usable_plugin.h"

#include <algorithm>
#include <string>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"

namespace ephost::session {
namespace {

std::string describe(const manifest::Manifest& manifest) {
  return formatted("version {} of {}", manifest.version.to_string(), quote(manifest.file.native()));
}

std::string describe(const manifest::SkippedManifest& skipped) {
  const auto& version = skipped.identity->version;
  return formatted("{} of {}", version ? "version " + version->to_string() : "the version",
                   quote(skipped.file.native()));
}

}  // namespace

void UnusablePlugins::add(const manifest::FoundPlugin& plugin, Status reason) {
  unusable_.push_back({&plugin, std::move(reason)});
}

bool UnusablePlugins::was_refused(const manifest::FoundPlugin& plugin) const {
  return std::ranges::any_of(unusable_, [&](const Unusable& one) {
    return one.plugin == &plugin && one.reason.code() == StatusCode::kEpFail;
  });
}

void UnusablePlugins::warn(const manifest::FoundPlugin& taken) const {
  const auto warn = [&](const std::string& what, const Status& reason) {
    log_warning(formatted("{}: {} cannot be used and is passed over for {}: {}",
                          candidates_.provider(), what, describe(taken.manifest),
                          reason.message()));
  };
  for (const Unusable& one : unusable_) warn(describe(one.plugin->manifest), one.reason);
  for (const manifest::SkippedManifest& skipped : candidates_.skipped) {
    const auto& version = skipped.identity->version;
    if (!version || *version > taken.manifest.version) warn(describe(skipped), skipped.reason);
  }
}

Status UnusablePlugins::error() const {
  const Status& first = unusable_.front().reason;
  if (unusable_.size() + candidates_.skipped.size() == 1) return first;
  const bool is_layer = candidates_.plugins.front().manifest.kind == manifest::Kind::kLayer;
  std::string text = formatted("no plugin for the {} {} can be used",
                               is_layer ? "layer" : "provider", candidates_.provider());
  for (const Unusable& one : unusable_) {
    text += formatted("; {}: {}", describe(one.plugin->manifest), one.reason.message());
  }
  for (const manifest::SkippedManifest& skipped : candidates_.skipped) {
    text += formatted("; {}: {}", describe(skipped), skipped.reason.message());
  }
  return Status(first.code(), text);
}

}  // namespace ephost::session
