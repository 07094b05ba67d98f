// SessionOptions: which providers a session asks, in which order, and how it works. Option keys are
// ONNX Runtime's own strings.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ephost {

using OptionList = std::vector<std::pair<std::string, std::string>>;

struct ProviderRequest {
  std::string name;           // provider name or short name
  std::string version_range;  // e.g. ">=1.2, <2"; empty: any
  OptionList options;
};

// A plain value. What is wrong with an entry is said when a session is created with it.
class SessionOptions {
 public:
  // Sets a configuration entry; the last one of a key stands. An unknown key has no effect but a
  // warning in the log.
  SessionOptions& add_config_entry(std::string key, std::string value);

  // Asks a further provider, after those that were appended before. The CPU provider is appended by
  // the session if it is missing.
  SessionOptions& append_execution_provider(std::string name, OptionList options = {},
                                            std::string version_range = {});

  // Places values by a plan made beforehand (default), or allocates each when it is made.
  SessionOptions& enable_mem_pattern(bool enable);
  // Lets values take over the memory of others (default).
  SessionOptions& enable_mem_reuse(bool enable);

  // Appends what a selection file says (manifests/SCHEMA.md).
  [[nodiscard]] Status load_selection(const std::filesystem::path& file);

  [[nodiscard]] const std::vector<ProviderRequest>& providers() const { return providers_; }
  [[nodiscard]] const OptionList& config_entries() const { return entries_; }
  [[nodiscard]] std::optional<std::string_view> config_entry(std::string_view key) const;
  [[nodiscard]] bool mem_pattern() const { return mem_pattern_; }
  [[nodiscard]] bool mem_reuse() const { return mem_reuse_; }

 private:
  std::vector<ProviderRequest> providers_;
  OptionList entries_;
  bool mem_pattern_ = true;
  bool mem_reuse_ = true;
};

}  // namespace ephost
