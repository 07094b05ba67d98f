#include "host/session/plugins/plugin_description.h"

#include "host/session/plugins/device_choice.h"

namespace ephost::session {

InstalledPlugin describe_plugin(const manifest::FoundPlugin& found) {
  const manifest::Manifest& manifest = found.manifest;
  const manifest::AbiRange& abi = manifest.abi;
  InstalledPlugin plugin{.provider = manifest.provider,
                         .name = manifest.name,
                         .vendor = manifest.vendor,
                         .version = manifest.version.to_string(),
                         .manifest = manifest.file,
                         .library = found.library,
                         .abi = {abi.major, abi.minor_min, abi.minor_max},
                         .context_sources = manifest.context_sources};
  for (const manifest::Device& device : manifest.devices) {
    plugin.devices.push_back({device.type, device.vendor, device.id});
  }
  return plugin;
}

EpDevice describe_device(const manifest::Manifest& manifest, const bridge::DeviceInfo& device) {
  return {.provider = manifest.provider,
          .provider_name = manifest.name,
          .provider_vendor = manifest.vendor,
          .id = device.id,
          .type = std::string(device_type_name(device.type)),
          .name = device.name,
          .vendor = device.vendor,
          .vendor_id = device.vendor_id,
          .device_id = device.device_id,
          .architecture = device.architecture,
          .driver_version = device.driver_version,
          .memory_bytes = device.memory_bytes,
          .is_virtual = device.is_virtual(),
          .metadata = device.metadata};
}

}  // namespace ephost::session
