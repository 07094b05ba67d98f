#include "host/session/plugin_description.h"

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

}  // namespace ephost::session
