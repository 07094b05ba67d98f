#include "host/session/config/session_config.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/files/known_checksums.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/session/config/config_entries.h"
#include "host/session/config/config_setters.h"

namespace ephost::session {
namespace {

// What the entries on shapes state together.
Status check_shapes(const SessionConfig& config) {
  const size_t count = config.shape_profiles.size();
  if (count == 0) return Status::ok_status();
  if (config.specialize == SpecializeMode::kOff) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} has profiles, and session.shapes.specialize=off forbids to "
                            "specialise the model for them; leave one of them out",
                            kShapeProfilesKey));
  }
  if (count <= config.max_specializations) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("{} has {} profiles, and session.shapes.max_specializations={} keeps "
                          "fewer; raise it to {}",
                          kShapeProfilesKey, count, config.max_specializations, count));
}

// What cannot go together with session.on_crash.
Status check_on_crash(const SessionConfig& config) {
  if (config.on_crash.has(OnCrash::kFallback) && config.disable_ep_fallback) {
    return Status(StatusCode::kInvalidArgument,
                  "session.on_crash=fallback gives the nodes of a lost provider to the next ones, "
                  "which session.disable_ep_fallback=1 forbids; leave one of them out");
  }
  if (config.on_crash.recovers() && (config.share_contexts || config.stop_share_contexts)) {
    return Status(StatusCode::kInvalidArgument,
                  "session.on_crash cannot replace a provider that sessions share; leave it at "
                  "fail, or ep.share_ep_contexts at 0");
  }
  return Status::ok_status();
}

Result<optimize::PassSelection> read_passes(const GivenOptions& options) {
  const std::string_view level = options.entry(kOptimizationLevelKey).value_or("all");
  const std::vector<std::string> disabled =
      split_names(options.entry(kDisabledOptimizersKey).value_or(""));
  Result<optimize::PassSelection> passes = optimize::PassSelection::create(level, disabled);
  if (passes.ok()) return passes;
  return std::move(passes).status().with_context("reading the configuration of optimizers");
}

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

}  // namespace

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    if (end > 0) names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

Status check_affinities(const std::vector<Processors>& affinities, uint32_t threads) {
  if (affinities.empty() || threads == 0 || affinities.size() + 1 == threads) {
    return Status::ok_status();
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("there are affinities for {} threads, and {} threads in one step with "
                          "the calling one; give one group for each thread but the calling one",
                          affinities.size(), threads));
}

Result<SessionConfig> read_session_config(const GivenOptions& options,
                                          std::vector<std::string>& warnings) {
  SessionConfig config{.known_checksums_dir = KnownChecksums::default_folder()};
  for (const auto& [key, value] : options.entries) {
    if (const KnownEntry* entry = find_known_entry(key)) {
      EPHOST_RETURN_IF_ERROR(entry->set(config, key, value));
      continue;
    }
    EPHOST_ASSIGN_OR_RETURN(const bool is_dimension, read_dimension(config, key, value));
    if (is_dimension) continue;
    if (key.starts_with(kLayersPrefix)) {
      std::string provider(key.substr(kLayersPrefix.size()));
      config.provider_layers[std::move(provider)] = split_names(value);
      continue;
    }
    if (key.starts_with(kNativeQueuePrefix)) {
      EPHOST_RETURN_IF_ERROR(setters::native_queue(config, key, value));
      continue;
    }
    if (key.starts_with(kIsolationPrefix)) {
      EPHOST_RETURN_IF_ERROR(setters::isolation(config, key, value));
      continue;
    }
    if (key.starts_with(kReadablePrefix)) {
      EPHOST_RETURN_IF_ERROR(
          setters::granted_files<&IsolationConfig::readable>(config, key, value));
      continue;
    }
    if (key.starts_with(kWritablePrefix)) {
      EPHOST_RETURN_IF_ERROR(
          setters::granted_files<&IsolationConfig::writable>(config, key, value));
      continue;
    }
    if (key.starts_with(kOnCrashPrefix)) {
      EPHOST_RETURN_IF_ERROR(setters::on_crash(config, key, value));
      continue;
    }
    warnings.push_back("configuration entry " + quote(key) + " is unknown and has no effect" +
                       similar_key(key));
  }
  EPHOST_ASSIGN_OR_RETURN(config.passes, read_passes(options));
  EPHOST_RETURN_IF_ERROR(check_shapes(config));
  EPHOST_RETURN_IF_ERROR(check_on_crash(config));
  EPHOST_RETURN_IF_ERROR(check_affinities(config.thread_affinities, config.intra_op_threads));
  if (!config.thread_affinities.empty()) {
    config.intra_op_threads = static_cast<uint32_t>(config.thread_affinities.size() + 1);
  }
  return config;
}

Result<SessionSettings> SessionSettings::read(const GivenOptions& options) {
  std::vector<std::string> warnings;
  EPHOST_ASSIGN_OR_RETURN(SessionConfig config, read_session_config(options, warnings));
  return SessionSettings(options, std::move(config), std::move(warnings));
}

Result<SessionConfig> read_session_config(const OptionList& entries) {
  GivenOptions options;
  for (const auto& [key, value] : entries) options.set_entry(key, value);
  std::vector<std::string> warnings;
  return read_session_config(options, warnings);
}

}  // namespace ephost::session
