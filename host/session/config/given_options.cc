#include "host/session/config/given_options.h"

#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/selection.h"
#include "host/session/config/policy_entries.h"

namespace ephost::session {

void GivenOptions::set_entry(std::string key, std::string value) {
  for (auto& [known, text] : entries) {
    if (known == key) {
      text = merge_entry(key, text, std::move(value));
      return;
    }
  }
  entries.emplace_back(std::move(key), std::move(value));
}

std::optional<std::string_view> GivenOptions::entry(std::string_view key) const {
  for (const auto& [known, text] : entries) {
    if (known == key) return text;
  }
  return std::nullopt;
}

Status GivenOptions::append_devices(std::span<const EpDevice> devices, OptionList options) {
  if (devices.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "append_execution_provider_v2 got no device; give one of Environment::devices()");
  }
  ProviderRequest request{.name = devices.front().provider, .options = std::move(options)};
  for (const EpDevice& device : devices) {
    if (device.provider != request.name) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("append_execution_provider_v2 got devices of {} and of {}; append "
                              "each provider by a call of its own",
                              quote(request.name), quote(device.provider)));
    }
    request.devices.push_back(device.id);
  }
  providers.push_back(std::move(request));
  return Status::ok_status();
}

Status GivenOptions::load_selection(const std::filesystem::path& file) {
  EPHOST_ASSIGN_OR_RETURN(manifest::Selection selection, manifest::load_selection(file));
  for (manifest::ProviderChoice& choice : selection.providers) {
    providers.push_back({.name = std::move(choice.name),
                         .version_range = choice.version.to_string(),
                         .options = std::move(choice.options),
                         .devices = std::move(choice.devices)});
  }
  for (auto& [key, value] : selection.session_entries) {
    set_entry(std::move(key), std::move(value));
  }
  input_files.push_back(file);
  return Status::ok_status();
}

}  // namespace ephost::session
