// Rules 23 and 52: the options that the manifest declares.
#include "host/manifest/options.h"

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/conformance/interface/option_values.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/probe.h"

namespace ephost::conformance {
namespace {

using manifest::OptionSpec;
using manifest::OptionType;
using std::chrono::seconds;

// Values that the manifest does not allow.
std::vector<std::string> wrong_values_of(const OptionSpec& option) {
  switch (option.type) {
    case OptionType::kEnum:
      return {"no such choice", ""};
    case OptionType::kBool:
      return {"perhaps", "2"};
    case OptionType::kInt:
    case OptionType::kFloat: {
      std::vector<std::string> values = {"many", ""};
      if (!option.range) return values;
      if (const auto* const least = std::get_if<int64_t>(&option.range->first)) {
        if (*least > std::numeric_limits<int64_t>::min()) {
          values.push_back(std::to_string(*least - 1));
        }
      }
      if (const auto* const most = std::get_if<int64_t>(&option.range->second)) {
        if (*most < std::numeric_limits<int64_t>::max())
          values.push_back(std::to_string(*most + 1));
      }
      return values;
    }
    case OptionType::kString:
      return {};
  }
  return {};
}

std::string how_with(const GivenOptions& options) {
  std::string text = "with ";
  for (const auto& [name, value] : options) {
    text += formatted("{}{}={}", &name == &options.front().first ? "" : " and ", name,
                      quote(value.substr(0, 40)));
  }
  return text;
}

// Creates providers with options, and counts those that are refused.
class OptionTrial {
 public:
  OptionTrial(std::shared_ptr<const plugin::LoadedPlugin> plugin, Report& report)
      : plugin_(std::move(plugin)),
        services_(kit_services(*plugin_)),
        devices_(default_devices(*plugin_)),
        report_(report) {}

  // Whether the provider takes them.
  bool attempt(const GivenOptions& options) {
    Result<Config> config = Config::make(plugin_, options, devices_);
    if (!config.ok()) {
      report_.fail(
          formatted("the host refuses what the manifest declares: {}", text_of(config.status())),
          "correct the defaults and ranges of the manifest");
      return false;
    }
    const Creation creation = create(*plugin_, *services_, config->record());
    ++attempts_;
    if (creation.ok()) {
      destroy(*plugin_, creation.provider);
      return true;
    }
    ++refused_;
    message_ = creation.thrown.empty() ? creation.message : creation.thrown;
    // The manifest allows the values; that they cannot be had here has to be explained.
    judge_creation(creation, options.empty() ? "with all defaults" : how_with(options), report_);
    return false;
  }
  void note() {
    report_.note("providers created", attempts_ - refused_);
    report_.note("combinations that the provider refused", refused_);
  }
  [[nodiscard]] const std::string& message() const { return message_; }  // of the last refusal

 private:
  std::shared_ptr<const plugin::LoadedPlugin> plugin_;
  std::unique_ptr<bridge::HostServices> services_;
  std::vector<bridge::DeviceInfo> devices_;
  Report& report_;
  std::string message_;
  double attempts_ = 0;
  double refused_ = 0;
};

void check_defaults(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  OptionTrial trial(plugin, report);
  if (trial.attempt({})) return;
  report.fail(
      formatted("no provider can be created with the defaults of all options: {}", trial.message()),
      "choose defaults that work, or exclude this check on machines without the device");
}

void check_each_value(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  if (plugin->manifest.options.empty()) return report.leave_out("the manifest declares no options");
  OptionTrial trial(plugin, report);
  for (const OptionSpec& option : plugin->manifest.options) {
    if (!is_for_creation(option)) continue;
    for (const std::string& value : values_to_try(option)) trial.attempt({{option.name, value}});
  }
  trial.note();
}

void check_pairs(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const std::vector<OptionSpec>& options = plugin->manifest.options;
  if (options.size() < 2) return report.leave_out("the manifest declares less than two options");
  OptionTrial trial(plugin, report);
  for (size_t i = 0; i < options.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!is_for_creation(options[i]) || !is_for_creation(options[k])) continue;
      for (const std::string& one : values_to_try(options[i])) {
        for (const std::string& other : values_to_try(options[k])) {
          trial.attempt({{options[k].name, other}, {options[i].name, one}});
        }
      }
    }
  }
  trial.note();
}

void check_wrong_values(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (!found.ok()) return report.leave_out("the manifest is not valid; check 8.1 says why");
  const manifest::Manifest& manifest = found->manifest;
  for (const OptionSpec& option : manifest.options) {
    if (!is_for_creation(option)) continue;
    for (const std::string& value : wrong_values_of(option)) {
      const GivenOptions given = {{option.name, value}};
      if (!manifest::validate_options(manifest, given).ok()) continue;
      report.fail(formatted("the host accepts {}", how_with(given)),
                  "give type, range and choices of the option in the manifest");
    }
  }
  const GivenOptions unknown = {{"no_such_option", "1"}};
  if (manifest.options_open == manifest::validate_options(manifest, unknown).ok()) return;
  report.fail("the host does not treat an option that the manifest lacks as options_open says",
              "this is a defect of the host; report it");
}

void check_open_options(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  if (!plugin->manifest.options_open) {
    return report.leave_out("the provider takes no options besides those of its manifest");
  }
  OptionTrial trial(plugin, report);
  for (const std::string& value : {std::string(), std::string("1"), std::string(100000, 'x')}) {
    trial.attempt({{"no_such_option", value}});
  }
  trial.note();
}

constexpr std::array kOptionChecks = {
    Check{23, 1, "default-options", "A provider is created with the defaults of all options",
          Level::kBasic, seconds(60), &check_defaults},
    Check{23, 2, "each-option-value",
          "A provider takes each option at its limits and choices, or says why not", Level::kBasic,
          seconds(60), &check_each_value},
    Check{23, 3, "option-pairs", "A provider takes each pair of options, or says why not",
          Level::kFull, seconds(600), &check_pairs},
    Check{23, 4, "wrong-option-values", "The manifest keeps values beyond its limits away",
          Level::kBasic, seconds(60), &check_wrong_values},
    Check{23, 5, "open-options", "A provider with open options takes any text, or says why not",
          Level::kBasic, seconds(60), &check_open_options}};

}  // namespace

std::span<const Check> option_checks() { return kOptionChecks; }

}  // namespace ephost::conformance
