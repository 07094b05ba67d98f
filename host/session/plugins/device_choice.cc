#include "host/session/plugins/device_choice.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::session {
namespace {

using bridge::DeviceInfo;

constexpr int32_t kTypes[] = {EPH_DEVICE_CPU, EPH_DEVICE_GPU, EPH_DEVICE_NPU, EPH_DEVICE_OTHER};

// "npu", or "gpu:1" with the number.
struct TypeName {
  int32_t type = EPH_DEVICE_OTHER;
  std::optional<size_t> number;
};

std::optional<TypeName> parse_type(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const auto* const type = std::ranges::find_if(
      kTypes, [&](int32_t known) { return equal_ignoring_case(device_type_name(known), name); });
  if (type == std::end(kTypes)) return std::nullopt;
  if (colon == text.size()) return TypeName{*type, std::nullopt};
  size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return TypeName{*type, number};
}

// EPH_DEVICE_OTHER for an unknown number.
int32_t known_type(int32_t type) {
  return std::ranges::find(kTypes, type) == std::end(kTypes) ? int32_t{EPH_DEVICE_OTHER} : type;
}

std::vector<const DeviceInfo*> find_devices(std::span<const DeviceInfo> listed,
                                            std::string_view wanted) {
  const auto named = std::ranges::find(listed, wanted, &DeviceInfo::id);
  if (named != listed.end()) return {&*named};
  const std::optional<TypeName> type = parse_type(wanted);
  if (!type) return {};
  std::vector<const DeviceInfo*> found;
  for (const DeviceInfo& device : listed) {
    if (!device.is_virtual() && known_type(device.type) == type->type) found.push_back(&device);
  }
  if (!type->number) return found;
  if (*type->number >= found.size()) return {};
  return {found[*type->number]};
}

std::string describe(std::span<const DeviceInfo> listed) {
  std::vector<std::string> texts;
  for (const DeviceInfo& device : listed) {
    texts.push_back(formatted("{} ({}{})", quote(device.id), device_type_name(device.type),
                              device.is_virtual() ? ", virtual" : ""));
  }
  return texts.empty() ? "none" : join(texts, ", ");
}

}  // namespace

std::string_view device_type_name(int32_t type) {
  switch (type) {
    case EPH_DEVICE_CPU:
      return "cpu";
    case EPH_DEVICE_GPU:
      return "gpu";
    case EPH_DEVICE_NPU:
      return "npu";
    default:
      return "other";
  }
}

Result<std::vector<DeviceInfo>> choose_devices(std::string_view provider,
                                               std::vector<DeviceInfo> listed,
                                               std::span<const std::string> wanted) {
  if (wanted.empty()) {
    std::erase_if(listed, [](const DeviceInfo& device) { return device.is_virtual(); });
    return listed;
  }
  std::vector<const DeviceInfo*> chosen;
  for (const std::string& entry : wanted) {
    const std::vector<const DeviceInfo*> found = find_devices(listed, entry);
    if (found.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("{} has no device {} here, only: {}; name one by its id, or by its "
                              "type and number, such as gpu:1",
                              provider, quote(entry), describe(listed)));
    }
    for (const DeviceInfo* device : found) {
      if (std::ranges::find(chosen, device) == chosen.end()) chosen.push_back(device);
    }
  }
  std::vector<DeviceInfo> devices;
  for (const DeviceInfo* device : chosen) devices.push_back(*device);
  return devices;
}

}  // namespace ephost::session
