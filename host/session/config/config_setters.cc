#include "host/session/config/config_setters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/base/threads/thread_pool.h"
#include "host/layers/layer.h"
#include "host/trust/policy.h"

namespace ephost::session::setters {

Status set_flag(std::string_view key, std::string_view text, bool& flag) {
  if (text != "0" && text != "1") {
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {} cannot be {}; use \"0\" or \"1\"", quote(key),
                            quote(text)));
  }
  flag = text == "1";
  return Status::ok_status();
}

Status require_checksums(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_flag(key, text, config.require_checksums.emplace());
}

Status allow_spinning(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_flag(key, text, config.allow_spinning.emplace());
}

Status flag_without_effect(SessionConfig&, std::string_view key, const std::string& text) {
  bool ignored = false;
  return set_flag(key, text, ignored);
}

Status affinities(SessionConfig& config, std::string_view key, const std::string& text) {
  config.thread_affinities.clear();
  if (text.empty()) return Status::ok_status();
  auto parsed = parse_thread_affinities(text);
  if (!parsed.ok()) {
    return std::move(parsed).status().with_context("reading the configuration entry " + quote(key));
  }
  config.thread_affinities = std::move(parsed).value();
  return Status::ok_status();
}

Status execution_mode(SessionConfig& config, std::string_view key, const std::string& text) {
  if (text != "sequential" && text != "parallel") {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("configuration entry {} cannot be {}; use \"sequential\" or \"parallel\"",
                  quote(key), quote(text)));
  }
  config.execution_mode =
      text == "parallel" ? ExecutionMode::kParallel : ExecutionMode::kSequential;
  return Status::ok_status();
}

Status set_number(std::string_view key, const std::string& text, std::string_view zero,
                  uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("configuration entry {} cannot be {}; use a whole number, 0 for {}",
                          quote(key), quote(text), zero));
}

Status set_threads(std::string_view key, const std::string& text, uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && number <= ThreadPool::kMaxThreads) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("configuration entry {} cannot be {}; use a number of threads up to {}, "
                          "0 for one for each processor",
                          quote(key), quote(text), ThreadPool::kMaxThreads));
}

Status set_budget(std::string_view key, const std::string& text, uint64_t& budget) {
  EPHOST_RETURN_IF_ERROR(set_number(key, text, "no limit", budget));
  if (budget == 0) budget = UINT64_MAX;
  return Status::ok_status();
}

Status timeout(SessionConfig& config, std::string_view key, const std::string& text) {
  constexpr uint64_t kMax = uint64_t{365} * 24 * 3600;  // keeps the deadline within its type
  uint64_t seconds = 0;
  EPHOST_RETURN_IF_ERROR(set_number(key, text, "no limit", seconds));
  config.load_timeout_seconds = static_cast<uint32_t>(std::min(seconds, kMax));
  return Status::ok_status();
}

Status min_external_bytes(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_number(key, text, "all initializers",
                    config.optimized_model_external_initializers_min_bytes);
}

Status patterns(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_number(key, text, "none", config.max_memory_patterns);
}

Status lock_timeout(SessionConfig& config, std::string_view key, const std::string& text) {
  constexpr uint64_t kMax = 1'000'000'000;
  uint64_t number = 0;
  EPHOST_RETURN_IF_ERROR(set_number(key, text, "not waiting", number));
  config.context_lock_timeout = std::chrono::milliseconds(std::min(number, kMax));
  return Status::ok_status();
}

Status capture(SessionConfig& config, std::string_view key, const std::string& text) {
  if (text != "auto" && text != "off") {
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {} cannot be {}; use \"auto\" or \"off\"",
                            quote(key), quote(text)));
  }
  config.captures_streams = text == "auto";
  return Status::ok_status();
}

Status device_memory_limit(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_number(key, text, "no limit", config.device_memory_limit);
}

Status nan(SessionConfig& config, std::string_view key, const std::string& text) {
  if (text != "propagate" && text != "library") {
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {} cannot be {}; use \"propagate\" or \"library\"",
                            quote(key), quote(text)));
  }
  config.nan = text;
  return Status::ok_status();
}

Status specialize(SessionConfig& config, std::string_view key, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, SpecializeMode>, 3> kModes = {
      {{"in_run", SpecializeMode::kInRun},
       {"background", SpecializeMode::kBackground},
       {"off", SpecializeMode::kOff}}};
  for (const auto& [name, mode] : kModes) {
    if (name != text) continue;
    config.specialize = mode;
    return Status::ok_status();
  }
  return Status(
      StatusCode::kInvalidArgument,
      formatted("configuration entry {} cannot be {}; use \"in_run\", \"background\" or \"off\"",
                quote(key), quote(text)));
}

Status runs_before(SessionConfig& config, std::string_view key, const std::string& text) {
  constexpr uint64_t kMax = uint64_t{1} << 32;  // of which a multiple is within the type
  EPHOST_RETURN_IF_ERROR(set_number(key, text, "the first run", config.runs_before));
  config.runs_before = std::min(config.runs_before, kMax);
  return Status::ok_status();
}

Status max_specializations(SessionConfig& config, std::string_view key, const std::string& text) {
  constexpr uint64_t kMax = 1024;
  EPHOST_RETURN_IF_ERROR(set_number(key, text, "none", config.max_specializations));
  if (config.max_specializations <= kMax) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("configuration entry {} cannot be {}; use at most {}", quote(key),
                          quote(text), kMax));
}

Status shape_profiles(SessionConfig& config, std::string_view key, const std::string& text) {
  auto parsed = parse_profiles(text);
  if (!parsed.ok()) {
    return std::move(parsed).status().with_context("reading the configuration entry " + quote(key));
  }
  config.shape_profiles = std::move(parsed).value();
  return Status::ok_status();
}

Status order(SessionConfig& config, std::string_view key, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, StepOrder>, 3> kOrders = {
      {{"default", StepOrder::kDefault},
       {"priority", StepOrder::kPriority},
       {"memory", StepOrder::kMemory}}};
  for (const auto& [name, order] : kOrders) {
    if (name != text) continue;
    config.execution_order = order;
    return Status::ok_status();
  }
  return Status(
      StatusCode::kInvalidArgument,
      formatted("configuration entry {} cannot be {}; use \"default\", \"priority\" or \"memory\"",
                quote(key), quote(text)));
}

Status layers(SessionConfig& config, std::string_view, const std::string& text) {
  config.layers = split_names(text);
  return Status::ok_status();
}

Status native_queue(SessionConfig& config, std::string_view key, const std::string& text) {
  uint64_t queue = 0;
  const bool is_hex = text.starts_with("0x");
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + (is_hex ? 2 : 0), end, queue, is_hex ? 16 : 10);
  if (read.ec != std::errc() || read.ptr != end || queue == 0) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("configuration entry {} cannot be {}; use the queue's handle as a whole "
                  "number, decimal or with 0x",
                  quote(key), quote(text)));
  }
  config.native_queues[std::string(key.substr(kNativeQueuePrefix.size()))] = queue;
  return Status::ok_status();
}

Status isolation(SessionConfig& config, std::string_view key, const std::string& text) {
  EPHOST_ASSIGN_OR_RETURN(
      const manifest::Isolation level,
      manifest::require_isolation(text, formatted("configuration entry {}", quote(key))));
  if (key == "session.isolation") {
    config.isolation.level = level;
  } else {
    config.isolation.of_providers[std::string(key.substr(kIsolationPrefix.size()))] = level;
  }
  return Status::ok_status();
}

template <auto Files>
Status granted_files(SessionConfig& config, std::string_view key, const std::string& text) {
  std::vector<std::filesystem::path> paths;
  for (std::string& name : split_names(text)) {
    std::filesystem::path path(std::move(name));
    std::error_code error;
    if (!path.is_absolute() || !std::filesystem::exists(path, error)) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted("configuration entry {} cannot grant {}, which {}; use absolute paths "
                    "of files and folders that are there, separated by \";\"",
                    quote(key), quote(path.native()),
                    path.is_absolute() ? "does not exist" : "is not absolute"));
    }
    paths.push_back(std::move(path));
  }
  constexpr size_t kPrefix = kReadablePrefix.size();
  static_assert(kPrefix == kWritablePrefix.size());
  GrantedFiles& files = config.isolation.*Files;
  (key.size() < kPrefix ? files.all : files.of_providers[std::string(key.substr(kPrefix))]) =
      std::move(paths);
  return Status::ok_status();
}
template Status granted_files<&IsolationConfig::readable>(SessionConfig&, std::string_view,
                                                          const std::string&);
template Status granted_files<&IsolationConfig::writable>(SessionConfig&, std::string_view,
                                                          const std::string&);

Status on_crash(SessionConfig& config, std::string_view key, const std::string& text) {
  const auto policy = parse_on_crash(text);
  if (!policy) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("configuration entry {} cannot be {}; use \"fail\", \"restart\" or \"fallback\"",
                  quote(key), quote(text)));
  }
  if (key == "session.on_crash") {
    config.on_crash.all = *policy;
  } else {
    config.on_crash.of_providers[std::string(key.substr(kOnCrashPrefix.size()))] = *policy;
  }
  return Status::ok_status();
}

template <auto Limit>
Status call_limit(SessionConfig& config, std::string_view key, const std::string& text) {
  constexpr double kMax = 365.0 * 24 * 3600;  // keeps the deadline within its type
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0)) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {} cannot be {}; use a number of seconds such as "
                            "30 or 0.5, 0 for no limit",
                            quote(key), quote(text)));
  }
  const std::chrono::duration<double> limit(std::min(seconds, kMax));
  config.isolation.calls.*Limit = std::chrono::ceil<std::chrono::milliseconds>(limit);
  return Status::ok_status();
}
template Status call_limit<&worker::CallLimits::probe>(SessionConfig&, std::string_view,
                                                       const std::string&);
template Status call_limit<&worker::CallLimits::compile>(SessionConfig&, std::string_view,
                                                         const std::string&);
template Status call_limit<&worker::CallLimits::run>(SessionConfig&, std::string_view,
                                                     const std::string&);

template <auto Limit>
Status worker_limit(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_number(key, text, "no limit", config.isolation.limits.*Limit);
}
template Status worker_limit<&worker::Limits::memory>(SessionConfig&, std::string_view,
                                                      const std::string&);
template Status worker_limit<&worker::Limits::cpu_seconds>(SessionConfig&, std::string_view,
                                                           const std::string&);
template Status worker_limit<&worker::Limits::threads>(SessionConfig&, std::string_view,
                                                       const std::string&);
template Status worker_limit<&worker::Limits::open_files>(SessionConfig&, std::string_view,
                                                          const std::string&);

Status validate_guard(SessionConfig& config, std::string_view key, const std::string& text) {
  using ephost::layers::Guard;
  if (text != "zones" && text != "pages") {
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {} cannot be {}; use \"zones\" or \"pages\"",
                            quote(key), quote(text)));
  }
  config.validate.guard = text == "pages" ? Guard::kPages : Guard::kZones;
  return Status::ok_status();
}

Status validate_deadline(SessionConfig& config, std::string_view key, const std::string& text) {
  constexpr uint64_t kMax = 1'000'000;  // keeps the milliseconds within their type
  uint64_t seconds = 0;
  EPHOST_RETURN_IF_ERROR(set_number(key, text, "no deadline", seconds));
  config.validate.deadline_milliseconds = static_cast<uint32_t>(std::min(seconds, kMax) * 1000);
  return Status::ok_status();
}

Status validate_abort_after(SessionConfig& config, std::string_view key, const std::string& text) {
  uint64_t deadlines = 0;
  EPHOST_RETURN_IF_ERROR(set_number(key, text, "never", deadlines));
  config.validate.abort_after = static_cast<uint32_t>(std::min<uint64_t>(deadlines, UINT32_MAX));
  return Status::ok_status();
}

Status signatures(SessionConfig& config, std::string_view key, const std::string& text) {
  const auto policy = trust::parse_signature_policy(text);
  if (!policy) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("configuration entry {} cannot be {}; use \"off\", \"warn\" or \"require\"",
                  quote(key), quote(text)));
  }
  config.signatures = *policy;
  return Status::ok_status();
}

Status quarantine(SessionConfig& config, std::string_view key, const std::string& text) {
  EPHOST_ASSIGN_OR_RETURN(
      config.quarantine,
      trust::parse_quarantine_policy(text, formatted("configuration entry {}", quote(key))));
  return Status::ok_status();
}

Status trace_format(SessionConfig& config, std::string_view key, const std::string& text) {
  if (text != "text" && text != "json") {
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {} cannot be {}; use \"text\" or \"json\"",
                            quote(key), quote(text)));
  }
  config.trace_format =
      text == "json" ? ephost::layers::TraceFormat::kJson : ephost::layers::TraceFormat::kText;
  return Status::ok_status();
}

Status read_later(SessionConfig&, std::string_view, const std::string&) {
  return Status::ok_status();
}

}  // namespace ephost::session::setters
