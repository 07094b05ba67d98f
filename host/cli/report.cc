#include "host/cli/report.h"

#include <nlohmann/json.hpp>

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

std::string abi_text(const manifest::AbiRange& abi) {
  const std::string major = std::to_string(abi.major) + ".";
  const std::string lowest = major + std::to_string(abi.minor_min);
  return abi.minor_min == abi.minor_max ? lowest
                                        : lowest + "-" + major + std::to_string(abi.minor_max);
}

Json abi_json(const manifest::AbiRange& abi) {
  return {{"major", abi.major}, {"minor", {abi.minor_min, abi.minor_max}}};
}

std::string devices_text(std::span<const manifest::Device> devices) {
  std::vector<std::string> parts;
  for (const manifest::Device& device : devices) {
    std::string details = device.vendor;
    if (!device.id.empty()) details += (details.empty() ? "" : " ") + device.id;
    parts.push_back(details.empty() ? device.type : device.type + " (" + details + ")");
  }
  return join(parts, ", ");
}

Json devices_json(std::span<const manifest::Device> devices) {
  Json json = Json::array();
  for (const manifest::Device& device : devices) {
    json.push_back({{"type", device.type}, {"vendor", device.vendor}, {"id", device.id}});
  }
  return json;
}

}  // namespace ephost::cli
