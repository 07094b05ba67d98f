#include "host/cli/report/report.h"

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::cli {

Json status_json(const Status& status) {
  return {{"code", status_code_name(status.code())}, {"message", status.message()}};
}

Json phases_json(std::span<const Phase> phases) {
  Json json = Json::array();
  for (const Phase& phase : phases) {
    json.push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  }
  return json;
}

std::string phases_text(std::span<const Phase> phases) {
  std::vector<std::string> parts;
  for (const Phase& phase : phases) parts.push_back(phase.name + " " + seconds_text(phase.seconds));
  return join(parts, ", ");
}

namespace {

std::string_view cache_outcome_name(CacheUse::Outcome outcome) {
  switch (outcome) {
    case CacheUse::Outcome::kHit:
      return "hit";
    case CacheUse::Outcome::kMiss:
      return "miss";
    case CacheUse::Outcome::kUncached:
      return "uncached";
    case CacheUse::Outcome::kOff:
      break;
  }
  return "off";
}

}  // namespace

Json metadata_json(const ModelMetadata& metadata) {
  Json custom = Json::object();
  for (const auto& [key, value] : metadata.custom_metadata_map) custom.set(key, value);
  return {{"producer_name", metadata.producer_name},
          {"graph_name", metadata.graph_name},
          {"domain", metadata.domain},
          {"description", metadata.description},
          {"graph_description", metadata.graph_description},
          {"version", metadata.version},
          {"custom_metadata_map", std::move(custom)}};
}

std::string metadata_text(const ModelMetadata& metadata) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, const std::string& text) {
    if (!text.empty()) parts.push_back(formatted("{} {}", what, quote(text)));
  };
  add("graph", metadata.graph_name);
  add("producer", metadata.producer_name);
  add("domain", metadata.domain);
  if (metadata.version != 0) parts.push_back(formatted("version {}", metadata.version));
  add("description", metadata.description);
  add("graph description", metadata.graph_description);
  for (const auto& [key, value] : metadata.custom_metadata_map) add(quote(key) + ":", value);
  return join(parts, ", ");
}

Json cache_json(const CacheUse& use) {
  if (use.outcome == CacheUse::Outcome::kOff) return nullptr;
  return {{"outcome", cache_outcome_name(use.outcome)},
          {"key", use.key.empty() ? Json() : Json(use.key)},
          {"reused_contexts", use.reused_contexts},
          {"reason", use.reason.empty() ? Json() : Json(use.reason)}};
}

std::string cache_text(const CacheUse& use) {
  if (use.outcome == CacheUse::Outcome::kOff) return {};
  std::string text(cache_outcome_name(use.outcome));
  if (!use.key.empty()) text += " " + use.key;
  if (use.reused_contexts > 0) {
    text += formatted(", {} reused", counted(use.reused_contexts, "context"));
  }
  if (!use.reason.empty()) text += formatted(" ({})", printable(use.reason));
  return text;
}

std::string open_shapes_note(std::string_view provider) {
  return formatted("{} takes nothing unless shapes are fixed: --dim or --shape-profile", provider);
}

std::string abi_text(const AbiVersions& abi) {
  return abi.minor_min == abi.minor_max
             ? formatted("{}.{}", abi.major, abi.minor_min)
             : formatted("{0}.{1}-{0}.{2}", abi.major, abi.minor_min, abi.minor_max);
}

Json abi_json(const AbiVersions& abi) {
  return {{"major", abi.major}, {"minor", std::vector{abi.minor_min, abi.minor_max}}};
}

std::string devices_text(std::span<const DeviceKind> devices) {
  std::vector<std::string> parts;
  for (const DeviceKind& device : devices) {
    std::string details = device.vendor;
    if (!device.id.empty()) details += (details.empty() ? "" : " ") + device.id;
    parts.push_back(details.empty() ? device.type : formatted("{} ({})", device.type, details));
  }
  return join(parts, ", ");
}

Json devices_json(std::span<const DeviceKind> devices) {
  Json json = Json::array();
  for (const DeviceKind& device : devices) {
    json.push_back({{"type", device.type}, {"vendor", device.vendor}, {"id", device.id}});
  }
  return json;
}

}  // namespace ephost::cli
