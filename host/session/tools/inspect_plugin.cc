#include "host/session/tools/inspect_plugin.h"

#include <ephost/ext/operators.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/extensions/operator_definitions.h"
#include "host/bridge/provider.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/plugin_loader.h"
#include "host/session/plugins/device_choice.h"
#include "host/session/plugins/plugin_description.h"
#include "host/session/plugins/provider_requests.h"
#include "host/session/plugins/usable_plugin.h"
#include "host/session/tools/plugin_records.h"
#include "host/worker/process/sandbox.h"
#include "host/worker/tables/worker_program.h"

namespace ephost::session {
namespace {

// The plugin that one manifest describes, with all the checks of a search.
Result<manifest::Candidates> find_by_manifest(const std::filesystem::path& file) {
  if (file.extension() != ".yaml" && file.extension() != ".yml") {
    return Status(StatusCode::kInvalidArgument,
                  quote(file.native()) +
                      " is not a plugin manifest; give a .yaml file, a "
                      "provider or its short name");
  }
  EPHOST_ASSIGN_OR_RETURN(manifest::FoundPlugin found, manifest::read_plugin(file));
  manifest::Candidates candidates;
  candidates.plugins.push_back(std::move(found));
  return candidates;
}

Result<manifest::Candidates> find_plugins(EnvironmentState& environment, const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(name, ignored)) return find_by_manifest(name);
  return manifest::find_candidates(*environment.plugins.all(), {.name = name});
}

OptionDescription describe_option(const manifest::OptionSpec& option) {
  OptionDescription description{.name = option.name,
                                .type = std::string(manifest::option_type_name(option.type)),
                                .scope = std::string(manifest::option_scope_name(option.scope)),
                                .default_value = manifest::to_text(option.default_value),
                                .choices = option.choices,
                                .help = option.help};
  if (option.range) {
    description.range.emplace(manifest::to_text(option.range->first),
                              manifest::to_text(option.range->second));
  }
  return description;
}

KernelTypeRule describe_rule(const eph_type_rule& rule) {
  KernelTypeRule description{.is_output = (rule.flags & EPH_RULE_OUTPUT) != 0,
                             .slot = rule.slot,
                             .is_variadic = (rule.flags & EPH_RULE_VARIADIC) != 0};
  if ((rule.flags & EPH_RULE_TENSOR) != 0) description.kinds.emplace_back("tensor");
  if ((rule.flags & EPH_RULE_SEQUENCE) != 0) description.kinds.emplace_back("sequence");
  if ((rule.flags & EPH_RULE_MAP) != 0) description.kinds.emplace_back("map");
  if ((rule.flags & EPH_RULE_OPTIONAL) != 0) description.kinds.emplace_back("optional");
  for (int32_t type = 0; type < 64; ++type) {
    if ((rule.element_types >> type & 1) == 0) continue;
    description.element_types.push_back(static_cast<ElementType>(type));
  }
  return description;
}

KernelDescription describe_kernel(const eph_kernel_def& kernel) {
  KernelDescription description{.op_type = std::string(bridge::view(kernel.op_type)),
                                .domain = std::string(bridge::view(kernel.domain)),
                                .since_version = kernel.since_version};
  constexpr int32_t kOpen = std::numeric_limits<int32_t>::max();
  if (kernel.until_version != kOpen) description.until_version = kernel.until_version;
  const size_t rule_count = kernel.rules == nullptr ? 0 : static_cast<size_t>(kernel.rule_count);
  for (size_t i = 0; i < rule_count; ++i) {
    description.types.push_back(describe_rule(kernel.rules[i]));
  }
  return description;
}

// Gives the devices to the description, and returns those that a session would use.
Result<std::vector<bridge::DeviceInfo>> describe_devices(const plugin::LoadedPlugin& plugin,
                                                         const bridge::HostServices& services,
                                                         std::span<const std::string> wanted,
                                                         PluginDescription& description) {
  auto devices = bridge::list_devices(plugin, services);
  description.device_status = devices.status();
  if (!devices.ok()) return std::vector<bridge::DeviceInfo>();
  for (const bridge::DeviceInfo& device : *devices) {
    description.devices.push_back(describe_device(plugin.manifest, device));
  }
  return choose_devices(plugin.manifest.provider, std::move(*devices), wanted);
}

std::vector<ElementType> element_types_of(uint64_t bits) {
  std::vector<ElementType> types;
  for (int32_t type = 0; type < 64; ++type) {
    if ((bits >> type & 1) != 0) types.push_back(static_cast<ElementType>(type));
  }
  return types;
}

std::vector<ParameterDescription> describe_parameters(
    const std::vector<onnx_io::FormalParameter>& parameters) {
  std::vector<ParameterDescription> descriptions;
  for (const onnx_io::FormalParameter& one : parameters) {
    descriptions.push_back({one.name, one.description, one.type_name,
                            element_types_of(one.element_types), one.is_optional, one.is_variadic});
  }
  return descriptions;
}

std::string item_text(int64_t item) { return formatted("{}", item); }
std::string item_text(float item) { return formatted("{}", item); }
std::string item_text(const std::string& item) { return quote(item); }
template <class Item>
std::string item_text(const std::vector<Item>& list) {
  std::vector<std::string> items;
  for (const Item& item : list) items.push_back(item_text(item));
  return "[" + join(items, ", ") + "]";
}

std::vector<AttributeDescription> describe_attributes(
    const std::vector<onnx_io::FormalAttribute>& attributes) {
  std::vector<AttributeDescription> descriptions;
  for (const onnx_io::FormalAttribute& one : attributes) {
    AttributeDescription& description = descriptions.emplace_back(AttributeDescription{
        one.name, one.description, onnx_io::attribute_kind_name(one.kind), one.is_required, {}});
    if (!one.default_value) continue;
    description.default_value =
        std::visit([](const auto& held) { return item_text(held); }, *one.default_value);
  }
  return descriptions;
}

void describe_operators(const std::shared_ptr<const plugin::LoadedPlugin>& plugin,
                        PluginDescription& description) {
  const auto operators = bridge::read_operators(plugin);
  description.operators_status = operators.status();
  if (!operators.ok()) return;
  for (const onnx_io::OperatorDefinition& one : *operators) {
    description.operators.push_back(
        {one.op_type, one.domain, one.description, one.since_version, one.is_deprecated,
         one.infer != nullptr, describe_parameters(one.inputs), describe_parameters(one.outputs),
         describe_attributes(one.attributes)});
  }
}

// What the manifest says, which a record does not have.
void describe_manifest(const manifest::FoundPlugin& found, PluginDescription& description) {
  description.plugin = describe_plugin(found);
  for (const manifest::OptionSpec& option : found.manifest.options) {
    description.options.push_back(describe_option(option));
  }
  description.options_open = found.manifest.options_open;
}

// A plugin whose provider cannot be created is described all the same.
Result<PluginDescription> describe_loaded(const std::shared_ptr<const plugin::LoadedPlugin>& plugin,
                                          const manifest::ProviderChoice& choice) {
  const manifest::Manifest& manifest = plugin->manifest;
  PluginDescription description;
  EPHOST_ASSIGN_OR_RETURN(const std::filesystem::path library, library_of(*plugin));
  describe_manifest({manifest, library}, description);
  description.abi_minor = plugin->abi_minor;
  auto services = std::make_unique<bridge::HostServices>(manifest.provider, plugin_log(),
                                                         bridge::ProgressHooks{});
  bridge::ProviderConfig config;
  config.purpose = EPH_PURPOSE_COMPILE_ONLY;
  EPHOST_ASSIGN_OR_RETURN(config.devices,
                          describe_devices(*plugin, *services, choice.devices, description));
  describe_operators(plugin, description);
  EPHOST_ASSIGN_OR_RETURN(config.options, manifest::validate_options(manifest, choice.options));
  const auto provider = bridge::Provider::create(plugin, std::move(config), std::move(services));
  description.provider_status = provider.status();
  if (!provider.ok()) return description;
  if (!description.operators.empty()) description.extensions.emplace_back(EPH_EXT_OPERATORS);
  std::ranges::copy((*provider)->extensions(), std::back_inserter(description.extensions));
  std::ranges::sort(description.extensions);
  description.compiles = (*provider)->can_compile();
  description.writes_context = (*provider)->can_write_context();
  for (const eph_kernel_def& kernel : (*provider)->kernels().kernels()) {
    description.kernels.push_back(describe_kernel(kernel));
  }
  return description;
}

bool is_complete(const PluginDescription& description) {
  return description.device_status.ok() && description.operators_status.ok() &&
         description.provider_status.ok();
}

// Whether a plugin that was to be loaded in a worker has failed by itself: the system has not, nor
// a limit that is shorter than what plugins have by default.
bool is_of_plugin(const Status& failure, const worker::IsolationOptions& options) {
  const worker::Limits& limits = options.limits;
  const bool is_limited = limits.memory != 0 || limits.cpu_seconds != 0 || limits.open_files != 0;
  const auto longest = options.calls.probe;
  return failure.code() == StatusCode::kEpFail && !is_limited &&
         (longest.count() == 0 || longest >= worker::CallLimits().probe);
}

// A plugin that is about to be described: loaded, or known from a record.
struct Subject {
  const manifest::FoundPlugin* found = nullptr;
  std::shared_ptr<const plugin::LoadedPlugin> plugin;
  worker::IsolationOptions isolation;
  PluginRecords::Subject record;
  std::optional<PluginDescription> recorded;
};

// Describes the plugins of one request, each where its isolation wants it.
class Inspection {
 public:
  // As a session with the configuration would load them. Borrows the environment and `config`.
  Inspection(EnvironmentState& environment, const SessionConfig& config,
             worker::IsolationOptions least)
      : loader_(environment, config, std::move(least)) {}

  void use_records(bool refresh) {
    records_ = PluginRecords(PluginRecords::default_folder());
    refresh_ = refresh;
  }

  Result<Subject> load(const manifest::FoundPlugin& found) {
    if (found.manifest.kind == manifest::Kind::kLayer) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("{} is the manifest of a layer, of which nothing can be described; "
                              "give that of a provider",
                              quote(found.manifest.file.native())));
    }
    EPHOST_ASSIGN_OR_RETURN(const worker::IsolationOptions options,
                            loader_.options_for(found.manifest));
    Subject subject{.found = &found, .isolation = options};
    if (options.level != manifest::Isolation::kNone) {
      subject.record = records_.subject_of(found, options);
      if (!refresh_) subject.recorded = find_success(subject.record);
    }
    // Whatever was recorded, it is not to be used if the plugin would be refused now.
    if (subject.recorded && loader_.check(found).ok()) {
      describe_manifest(found, *subject.recorded);
      return subject;
    }
    subject.recorded.reset();
    auto loaded = loader_.load(found);
    if (!loaded.ok()) {
      // What the checks refuse, they will refuse as long as it holds.
      if (is_of_plugin(loaded.status(), options) && loader_.check(found).ok()) {
        remember(subject, loaded.status());
      }
      return std::move(loaded).status();
    }
    subject.plugin = *std::move(loaded);
    return subject;
  }

  Result<PluginDescription> describe(const Subject& subject,
                                     const manifest::ProviderChoice& choice) {
    if (subject.recorded) return *subject.recorded;
    EPHOST_ASSIGN_OR_RETURN(PluginDescription description, describe_loaded(subject.plugin, choice));
    description.isolation = manifest::isolation_name(subject.isolation.level);
    if (subject.isolation.level == manifest::Isolation::kSandbox) {
      description.sandbox_gaps = worker::probe_sandbox().missing;
    }
    if (is_complete(description)) remember(subject, description);
    return description;
  }

 private:
  [[nodiscard]] std::optional<PluginDescription> find_success(
      const PluginRecords::Subject& subject) const {
    const auto record = records_.find(subject);
    if (!record || !record->ok()) return std::nullopt;
    return **record;
  }

  void remember(const Subject& subject, const Result<PluginDescription>& description) const {
    if (subject.isolation.level == manifest::Isolation::kNone) return;
    records_.remember(subject.record, records_.subject_of(*subject.found, subject.isolation),
                      description);
  }

  PluginLoader loader_;
  PluginRecords records_;
  bool refresh_ = false;
};

// What is asked about one plugin.
struct Question {
  manifest::Candidates candidates;
  manifest::ProviderChoice choice = {};
};

Result<Question> question_of(EnvironmentState& environment, const std::string& plugin) {
  EPHOST_ASSIGN_OR_RETURN(manifest::Candidates candidates, find_plugins(environment, plugin));
  return Question{std::move(candidates)};
}

Result<Question> question_of(EnvironmentState& environment, const ProviderRequest& request) {
  EPHOST_ASSIGN_OR_RETURN(manifest::ProviderChoice choice, choice_of(request));
  EPHOST_ASSIGN_OR_RETURN(manifest::Candidates candidates,
                          manifest::find_candidates(*environment.plugins.all(), choice));
  return Question{std::move(candidates), std::move(choice)};
}

Result<PluginDescription> answer(Inspection& inspection, const Question& question) {
  return with_usable_plugin(inspection, question.candidates, [&](const Subject& subject) {
    return inspection.describe(subject, question.choice);
  });
}

Result<worker::IsolationOptions> isolation_of(const InspectOptions& options) {
  worker::IsolationOptions isolation;
  EPHOST_ASSIGN_OR_RETURN(
      isolation.level, manifest::require_isolation(options.isolation, "InspectOptions::isolation"));
  // Without the program, loading says what is missing.
  if (auto program = worker::find_worker_program(); program.ok()) {
    isolation.program = *std::move(program);
  }
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
  if (options.call_limit.count() > 0) {
    isolation.calls.probe = std::min(options.call_limit, kLongest);
  }
  isolation.calls.name = "calls while a plugin is inspected";
  isolation.calls.compile = isolation.calls.probe;  // creating a provider is one of these calls
  return isolation;
}

// `asked`: a name or a request. A request is always run, so that nothing is recorded of it.
template <class Asked>
Result<PluginDescription> inspect(EnvironmentState& environment, const Asked& asked,
                                  const InspectOptions& options) {
  const LogScope scope(environment.log);
  return without_exceptions("inspecting a plugin", [&]() -> Result<PluginDescription> {
    EPHOST_ASSIGN_OR_RETURN(const worker::IsolationOptions isolation, isolation_of(options));
    EPHOST_ASSIGN_OR_RETURN(const SessionConfig config,
                            read_session_config(options.session_entries));
    EPHOST_ASSIGN_OR_RETURN(const Question question, question_of(environment, asked));
    Inspection inspection(environment, config, isolation);
    if (std::is_same_v<Asked, std::string>) inspection.use_records(options.refresh);
    return answer(inspection, question);
  });
}

// Where a session with the configuration would load it, and without records.
template <class Asked>
Result<PluginDescription> inspect(EnvironmentState& environment, const Asked& asked,
                                  const SessionConfig& config) {
  const LogScope scope(environment.log);
  return without_exceptions("inspecting a plugin", [&]() -> Result<PluginDescription> {
    EPHOST_ASSIGN_OR_RETURN(const Question question, question_of(environment, asked));
    Inspection inspection(environment, config, {.calls = config.isolation.calls});
    return answer(inspection, question);
  });
}

}  // namespace

Result<PluginDescription> inspect_plugin(EnvironmentState& environment, const std::string& plugin) {
  return inspect(environment, plugin, SessionConfig());
}

Result<PluginDescription> inspect_plugin(EnvironmentState& environment,
                                         const ProviderRequest& request) {
  return inspect(environment, request, SessionConfig());
}

Result<PluginDescription> inspect_plugin(EnvironmentState& environment,
                                         const ProviderRequest& request,
                                         const SessionConfig& config) {
  return inspect(environment, request, config);
}

Result<PluginDescription> inspect_plugin(EnvironmentState& environment, const std::string& plugin,
                                         const InspectOptions& options) {
  return inspect(environment, plugin, options);
}

Result<PluginDescription> inspect_plugin(EnvironmentState& environment,
                                         const ProviderRequest& request,
                                         const InspectOptions& options) {
  return inspect(environment, request, options);
}

}  // namespace ephost::session
