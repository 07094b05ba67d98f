// The options of a session as the application has given them, which is what session options of the
// public API hold. Nothing of them is checked before a session is created.
#pragma once

#include <ephost/status.h>
#include <ephost/types/ep_device.h>
#include <ephost/types/logging.h>
#include <ephost/types/session_options.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/runtime/values/value.h"

namespace ephost::session {

// A value for the model's initializer of that name.
struct GivenInitializer {
  std::string name;
  runtime::Value value;
  bool replaces_external = false;  // the model's data must be outside of the model
};

struct GivenOptions {
  std::vector<ProviderRequest> providers = {};
  std::optional<EpDevicePolicy> policy = {};
  OptionList entries = {};  // as `set_entry` leaves them
  std::vector<GivenInitializer> initializers = {};
  std::vector<FileInMemory> files_in_memory = {};
  std::vector<std::filesystem::path> input_files = {};
  std::vector<std::filesystem::path> output_files = {};
  EpContextDataReadFunction read_context_data = {};
  ProgressFunction progress = {};
  const std::atomic<bool>* cancelled = nullptr;
  std::string log_id = {};
  std::optional<LoggingLevel> log_level = {};
  bool mem_pattern = true;
  bool mem_reuse = true;

  // SessionOptions::add_config_entry.
  void set_entry(std::string key, std::string value);
  [[nodiscard]] std::optional<std::string_view> entry(std::string_view key) const;

  // SessionOptions::append_execution_provider_v2.
  [[nodiscard]] Status append_devices(std::span<const EpDevice> devices, OptionList options);
  // SessionOptions::load_selection.
  [[nodiscard]] Status load_selection(const std::filesystem::path& file);
};

}  // namespace ephost::session
