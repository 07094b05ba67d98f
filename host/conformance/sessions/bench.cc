#include "host/conformance/sessions/bench.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <system_error>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/conformance/sessions/wide_models.h"

namespace ephost::conformance {
namespace {

// What a plugin does wrong it often does in each call.
constexpr size_t kMostLines = 5;

}  // namespace

void LayerFindings::add(std::string_view line) {
  // The line with the number of findings, at the end of a provider, says nothing else.
  if (!line.starts_with("validation: ") || line.find("); ") == std::string_view::npos) return;
  const std::lock_guard lock(mutex_);
  const bool is_new = std::ranges::find(lines_, line) == lines_.end();
  if (is_new && lines_.size() < kMostLines) lines_.emplace_back(line);
}

bool LayerFindings::empty() const {
  const std::lock_guard lock(mutex_);
  return lines_.empty();
}

void LayerFindings::report(std::string_view where, Report& report) {
  const std::lock_guard lock(mutex_);
  for (const std::string& line : lines_) {
    // "validation: SLOT of PROVIDER WHAT (rule N); ADVICE"
    const size_t advice = line.find("); ");
    report.fail(formatted("{}: {}", where, line.substr(0, advice + 1)), line.substr(advice + 3));
  }
  lines_.clear();
}

Result<Bench> Bench::open(const Subject& subject) {
  EnvironmentOptions options;
  options.plugin_directories.assign(subject.plugin_paths.begin(), subject.plugin_paths.end());
  options.search_default_directories = false;
  // Of what the host says, only the findings of the layer matter.
  options.log_severity_level = LoggingLevel::kError;
  const auto findings = std::make_shared<LayerFindings>();
  options.logging_function = [findings](const LogMessage& message) {
    findings->add(message.message);
  };
  EPHOST_ASSIGN_OR_RETURN(Environment environment, Environment::create(options));
  for (const InstalledPlugin& plugin : environment.plugins()) {
    std::error_code ignored;
    const bool is_it = !plugin.provider.empty() && plugin.name == subject.provider &&
                       std::filesystem::equivalent(plugin.manifest, subject.manifest, ignored);
    if (is_it) return Bench(subject, findings, std::move(environment), plugin);
  }
  return Status(StatusCode::kNotFound,
                formatted("the plugin of {} is not among those that can be used",
                          quote(subject.manifest.native())));
}

SessionOptions Bench::options(const OptionList& of_provider) const {
  SessionOptions options;
  // Exactly this version, if others are installed too.
  options.append_execution_provider(plugin_.name, of_provider, "=" + plugin_.version);
  options.add_config_entry("session.isolation." + plugin_.name, subject_.isolation);
  return options;
}

SessionOptions Bench::guarded(std::string_view guard) const {
  SessionOptions options = this->options();
  options.add_config_entry("session.layers." + plugin_.name, "validate");
  options.add_config_entry("session.validate.guard", std::string(guard));
  return options;
}

SessionOptions Bench::reference() { return {}; }

Result<Session> Bench::load(const std::string& model, const SessionOptions& options) const {
  return Session::create(environment_, ModelBytes{std::as_bytes(std::span(model))}, options);
}

uint64_t Bench::nodes_of(const Session& session) const {
  const std::vector<SessionProvider> providers = session.providers();
  const auto own = std::ranges::find(providers, plugin_.provider, &SessionProvider::name);
  return own == providers.end() ? 0 : own->node_count;
}

Status Bench::keep_loaded() {
  keeper_model_ = std::make_shared<const std::string>(
      wide_model(WideKind::kUnary, {.rows = 1, .columns = 1}).SerializeAsString());
  EPHOST_ASSIGN_OR_RETURN(keeper_, load(*keeper_model_, options()));
  return Status::ok_status();
}

std::optional<Bench> need_bench(const Subject& subject, Report& report) {
  Result<Bench> bench = Bench::open(subject);
  const Status status = bench.ok() ? bench->keep_loaded() : bench.status();
  if (status.ok()) return std::move(*bench);
  report.leave_out(formatted("there is no session with this provider: {}", status.message()));
  return std::nullopt;
}

}  // namespace ephost::conformance
