// The conformance kit as `ephost validate` sees it: a program that lists checks and runs one of
// them, and the folder with its data. The command itself loads no plugin.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::cli {

struct KitCheck {
  std::string id;  // "27.3"
  int rule = 0;
  std::string rule_title;
  std::string name;
  std::string title;  // what holds if it passes
  bool is_basic = true;
  std::chrono::seconds deadline{60};
};

// A plugin to be examined.
struct KitPlugin {
  std::filesystem::path manifest;  // absolute
  std::string provider;
  std::string name;
  std::string version;
};

struct Exclusion {
  std::string check;  // its id
  std::string reason;
  bool is_optional = false;  // the check may pass, too
};

class Kit {
 public:
  // The kit that was installed, or built, with this program. NOT_FOUND if it is missing.
  [[nodiscard]] static Result<Kit> find();

  [[nodiscard]] const std::filesystem::path& program() const { return program_; }
  // It need not exist.
  [[nodiscard]] const std::filesystem::path& data() const { return data_; }

  // In the order of their rules and numbers.
  [[nodiscard]] Result<std::vector<KitCheck>> checks() const;
  // The plugin of a manifest, or those of the manifests in a folder.
  [[nodiscard]] Result<std::vector<KitPlugin>> plugins(const std::filesystem::path& path) const;
  [[nodiscard]] Result<std::vector<Exclusion>> exclusions(const std::filesystem::path& file) const;

 private:
  std::filesystem::path program_;
  std::filesystem::path data_;
};

// Those that are named by id ("27.3"), name or rule ("27"); all of them if nothing is named.
// INVALID_ARGUMENT for a name that no check has.
[[nodiscard]] Result<std::vector<KitCheck>> choose_checks(std::vector<KitCheck> checks,
                                                          const std::vector<std::string>& names);

}  // namespace ephost::cli
