#include "host/session/session_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/files/known_checksums.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/base/thread_pool.h"
#include "host/onnx_io/import/import.h"

namespace ephost::session {
namespace {

Status set_flag(std::string_view key, std::string_view text, bool& flag) {
  if (text != "0" && text != "1") {
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {} cannot be {}; use \"0\" or \"1\"", quote(key),
                            quote(text)));
  }
  flag = text == "1";
  return Status::ok_status();
}

using Setter = Status (*)(SessionConfig&, std::string_view key, const std::string& text);

template <bool SessionConfig::*kMember>
Status flag(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_flag(key, text, config.*kMember);
}

Status require_checksums(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_flag(key, text, config.require_checksums.emplace());
}

Status allow_spinning(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_flag(key, text, config.allow_spinning.emplace());
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

template <auto kMember>
Status text(SessionConfig& config, std::string_view, const std::string& value) {
  config.*kMember = value;
  return Status::ok_status();
}

template <uint32_t SessionConfig::*kMember>
Status threads(SessionConfig& config, std::string_view key, const std::string& text) {
  uint32_t& number = config.*kMember;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && number <= ThreadPool::kMaxThreads) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("configuration entry {} cannot be {}; use a number of threads up to {}, "
                          "0 for one for each processor",
                          quote(key), quote(text), ThreadPool::kMaxThreads));
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

template <uint64_t context::CacheLimits::*kMember>
Status limit(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_number(key, text, "no limit", config.cache_limits.*kMember);
}

// A limit of a budget; "no limit" is a very high one.
Status set_budget(std::string_view key, const std::string& text, uint64_t& budget) {
  EPHOST_RETURN_IF_ERROR(set_number(key, text, "no limit", budget));
  if (budget == 0) budget = UINT64_MAX;
  return Status::ok_status();
}

template <uint64_t optimize::FoldLimits::*kMember>
Status fold_limit(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_budget(key, text, config.fold_limits.*kMember);
}

template <uint64_t SessionConfig::*kMember>
Status budget(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_budget(key, text, config.*kMember);
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

// What the entries on shapes state together.
Status check_shapes(const SessionConfig& config) {
  const size_t count = config.shape_profiles.size();
  if (count == 0) return Status::ok_status();
  if (config.specialize == SpecializeMode::kOff) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} states profiles, and session.shapes.specialize=off forbids to "
                            "specialise the model for them; leave one of them out",
                            kShapeProfilesKey));
  }
  if (count <= config.max_specializations) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("{} states {} profiles, and session.shapes.max_specializations={} keeps "
                          "fewer; raise it to {}",
                          kShapeProfilesKey, count, config.max_specializations, count));
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

constexpr std::string_view kMaxInlinedNodesKey = "session.function_inlining_max_nodes";
constexpr std::string_view kLevelKey = "session.graph_optimization_level";
constexpr std::string_view kDisabledKey = "optimization.disable_specified_optimizers";

// Two entries make up this value: see read_passes.
Status read_later(SessionConfig&, std::string_view, const std::string&) {
  return Status::ok_status();
}

// Names separated by `;`.
std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    if (end > 0) names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

Result<optimize::PassSelection> read_passes(const SessionOptions& options) {
  const std::string_view level = options.config_entry(kLevelKey).value_or("all");
  const std::vector<std::string> disabled =
      split_names(options.config_entry(kDisabledKey).value_or(""));
  Result<optimize::PassSelection> passes = optimize::PassSelection::create(level, disabled);
  if (passes.ok()) return passes;
  return std::move(passes).status().with_context("reading the configuration of optimizers");
}

struct Entry {
  std::string_view key;
  Setter set;
};

constexpr std::array kEntries = {
    Entry{"ep.context_enable", &flag<&SessionConfig::context_enable>},
    Entry{"ep.context_file_path", &text<&SessionConfig::context_file_path>},
    Entry{"ep.context_embed_mode", &flag<&SessionConfig::context_embed_mode>},
    Entry{"ep.context_force_overwrite", &flag<&SessionConfig::context_force_overwrite>},
    Entry{"ep.context_lock_timeout_ms", &lock_timeout},
    Entry{"ep.context_node_name_prefix", &text<&SessionConfig::context_node_name_prefix>},
    Entry{"ep.context_model_external_initializers_file_name",
          &text<&SessionConfig::context_external_initializers_file>},
    Entry{"ep.share_ep_contexts", &flag<&SessionConfig::share_contexts>},
    Entry{"ep.share_ep_contexts_group", &text<&SessionConfig::share_contexts_group>},
    Entry{"ep.stop_share_ep_contexts", &flag<&SessionConfig::stop_share_contexts>},
    Entry{"ep.cache_dir", &text<&SessionConfig::cache_dir>},
    Entry{"ep.cache_max_bytes", &limit<&context::CacheLimits::max_bytes>},
    Entry{"ep.cache_max_age_days", &limit<&context::CacheLimits::max_age_days>},
    Entry{"ep.require_checksums", &require_checksums},
    Entry{"ep.known_checksums_dir", &text<&SessionConfig::known_checksums_dir>},
    Entry{kLevelKey, &read_later},
    Entry{kDisabledKey, &read_later},
    Entry{optimize::kMaxFoldedBytesKey, &fold_limit<&optimize::FoldLimits::max_bytes>},
    Entry{optimize::kMaxFoldingWorkKey, &fold_limit<&optimize::FoldLimits::max_work>},
    Entry{"session.model_external_initializers_file_folder_path",
          &text<&SessionConfig::external_initializers_folder>},
    Entry{"session.execution_mode", &execution_mode},
    Entry{"session.inter_op_num_threads", &threads<&SessionConfig::inter_op_threads>},
    Entry{"session.intra_op_num_threads", &threads<&SessionConfig::intra_op_threads>},
    Entry{"session.optimized_model_file_path", &text<&SessionConfig::optimized_model_file_path>},
    Entry{"session.optimized_model_external_initializers_file_name",
          &text<&SessionConfig::optimized_model_external_initializers_file>},
    Entry{"session.optimized_model_external_initializers_min_size_in_bytes", &min_external_bytes},
    Entry{"session.intra_op_thread_affinities", &affinities},
    Entry{"session.intra_op.allow_spinning", &allow_spinning},
    Entry{"session.profile_file", &text<&SessionConfig::profile_file>},
    Entry{"session.execution_order", &order},
    Entry{"session.shapes.specialize", &specialize},
    Entry{"session.shapes.runs_before", &runs_before},
    Entry{"session.shapes.max_specializations", &max_specializations},
    Entry{kShapeProfilesKey, &shape_profiles},
    Entry{"session.max_memory_patterns", &patterns},
    Entry{"session.load_timeout_seconds", &timeout},
    Entry{kMaxInlinedNodesKey, &budget<&SessionConfig::max_inlined_nodes>},
    Entry{onnx_io::kMaxDenseBytesKey, &budget<&SessionConfig::max_dense_bytes>},
    Entry{"session.disable_cpu_ep_fallback", &flag<&SessionConfig::disable_cpu_fallback>},
    Entry{"session.disable_ep_fallback", &flag<&SessionConfig::disable_ep_fallback>},
    Entry{"session.disable_model_compile", &flag<&SessionConfig::disable_model_compile>},
    Entry{"session.disable_quant_qdq", &flag<&SessionConfig::disable_quant_qdq>},
    Entry{"session.fail_on_suboptimal_compiled_model",
          &flag<&SessionConfig::fail_on_suboptimal_context>},
};

Status set_dimension(std::map<std::string, int64_t>& sizes, std::string name, std::string_view key,
                     const std::string& text) {
  int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < 0) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {} cannot be {}; use the size of the dimension, a "
                            "whole number of at least 0",
                            quote(key), quote(text)));
  }
  if (name.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("configuration entry {} names no dimension; add its name to the key",
                            quote(key)));
  }
  const int64_t known = sizes.emplace(std::move(name), size).first->second;
  if (known == size) return Status::ok_status();
  return Status(
      StatusCode::kInvalidArgument,
      formatted("configuration entry {} is {}, but another spelling of the same denotation is {}; "
                "leave one of them out",
                quote(key), size, known));
}

// The sizes of an input's dimensions, e.g. "1,?,224"; empty for a scalar.
Status set_input(std::map<std::string, std::vector<int64_t>>& inputs, std::string name,
                 std::string_view key, const std::string& text) {
  std::vector<int64_t> sizes;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, end);
    int64_t size = -1;
    const auto [stop, error] = std::from_chars(one.data(), one.data() + one.size(), size);
    const bool is_size = error == std::errc() && stop == one.data() + one.size() && size >= 0;
    if ((!is_size && one != "?") || end + 1 == rest.size()) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("configuration entry {} cannot be {}; list the sizes of all "
                              "dimensions, with ? for one that stays open, e.g. 1,?,224",
                              quote(key), quote(text)));
    }
    sizes.push_back(is_size ? size : -1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (name.empty()) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("configuration entry {} names no input; add its name to the key", quote(key)));
  }
  inputs[std::move(name)] = std::move(sizes);
  return Status::ok_status();
}

// Whether the entry overrides a dimension, whose name is a part of the key.
Result<bool> read_dimension(SessionConfig& config, std::string_view key, const std::string& text) {
  onnx_io::DimensionOverrides& overrides = config.dimension_overrides;
  if (key.starts_with(kDimensionByNamePrefix)) {
    std::string name(key.substr(kDimensionByNamePrefix.size()));
    EPHOST_RETURN_IF_ERROR(set_dimension(overrides.by_name, std::move(name), key, text));
    return true;
  }
  if (key.starts_with(kDimensionByDenotationPrefix)) {
    std::string denotation = ascii_lower(key.substr(kDimensionByDenotationPrefix.size()));
    EPHOST_RETURN_IF_ERROR(
        set_dimension(overrides.by_denotation, std::move(denotation), key, text));
    return true;
  }
  if (key.starts_with(kDimensionByInputPrefix)) {
    std::string name(key.substr(kDimensionByInputPrefix.size()));
    EPHOST_RETURN_IF_ERROR(set_input(overrides.by_input, std::move(name), key, text));
    return true;
  }
  return false;
}

const Entry* find_entry(std::string_view key) {
  for (const Entry& entry : kEntries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string unknown_key(std::string_view key) {
  std::vector<std::string_view> known;
  for (const Entry& entry : kEntries) known.push_back(entry.key);
  std::string message = "configuration entry " + quote(key) + " is unknown and has no effect";
  if (const auto nearest = nearest_match(key, known)) {
    message += "; did you mean " + quote(*nearest) + "?";
  }
  return message;
}

}  // namespace

Status check_affinities(const std::vector<Processors>& affinities, uint32_t threads) {
  if (affinities.empty() || threads == 0 || affinities.size() + 1 == threads) {
    return Status::ok_status();
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("there are affinities for {} threads, and {} threads in one step with "
                          "the calling one; give one group for each thread but the calling one",
                          affinities.size(), threads));
}

Result<SessionConfig> read_session_config(const SessionOptions& options,
                                          std::vector<std::string>& warnings) {
  SessionConfig config{.known_checksums_dir = KnownChecksums::default_folder()};
  for (const auto& [key, value] : options.config_entries()) {
    if (const Entry* entry = find_entry(key)) {
      EPHOST_RETURN_IF_ERROR(entry->set(config, key, value));
      continue;
    }
    EPHOST_ASSIGN_OR_RETURN(const bool is_dimension, read_dimension(config, key, value));
    if (!is_dimension) warnings.push_back(unknown_key(key));
  }
  EPHOST_ASSIGN_OR_RETURN(config.passes, read_passes(options));
  EPHOST_RETURN_IF_ERROR(check_shapes(config));
  EPHOST_RETURN_IF_ERROR(check_affinities(config.thread_affinities, config.intra_op_threads));
  if (!config.thread_affinities.empty()) {
    config.intra_op_threads = static_cast<uint32_t>(config.thread_affinities.size() + 1);
  }
  return config;
}

}  // namespace ephost::session
