#include "host/cli/report/device_report.h"

#include "host/base/format.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"

namespace ephost::cli {
namespace {

std::string number_text(uint32_t number) { return number == 0 ? "" : formatted("{:#06x}", number); }

}  // namespace

Json devices_json(std::span<const EpDevice> devices) {
  Json list = Json::array();
  for (const EpDevice& device : devices) {
    Json metadata = Json::object();
    for (const auto& [key, value] : device.metadata) metadata.set(key, value);
    list.push_back({{"provider", device.provider},
                    {"provider_name", device.provider_name},
                    {"id", device.id},
                    {"type", device.type},
                    {"name", device.name},
                    {"vendor", device.vendor},
                    {"vendor_id", device.vendor_id},
                    {"device_id", device.device_id},
                    {"architecture", device.architecture},
                    {"driver_version", device.driver_version},
                    {"memory_bytes", device.memory_bytes},
                    {"virtual", device.is_virtual},
                    {"metadata", metadata}});
  }
  return list;
}

std::string devices_table(std::span<const EpDevice> devices, bool verbose) {
  Table table({{"provider"},
               {"device"},
               {"type"},
               {"name"},
               {"vendor"},
               {"pci"},
               {"architecture"},
               {"driver"},
               {"memory"}});
  std::string details;
  for (const EpDevice& device : devices) {
    const std::string vendor_id = number_text(device.vendor_id);
    table.add_row({device.provider_name, device.id,
                   device.is_virtual ? device.type + ", virtual" : device.type, device.name,
                   device.vendor,
                   vendor_id.empty() ? "" : formatted("{}:{:#06x}", vendor_id, device.device_id),
                   device.architecture, device.driver_version,
                   device.memory_bytes == 0 ? "" : bytes_text(device.memory_bytes)});
    for (const auto& [key, value] : device.metadata) {
      details += formatted("  {} of {}: {} = {}\n", printable_line(device.id),
                           printable_line(device.provider_name), printable_line(key),
                           printable_line(value));
    }
  }
  if (table.empty()) return "";
  std::string text = table.to_text();
  if (verbose && !details.empty()) text += "\nmetadata:\n" + details;
  return text;
}

}  // namespace ephost::cli
