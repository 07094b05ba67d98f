// The description that a plugin gives of itself, as bytes: the part of a PluginDescription that a
// record of it keeps (plugin_records.h). What the manifest says is not in it, nor are failures, but
// for the provider's. Numbers are in the byte order of the machine: records do not leave it.
#pragma once

#include <ephost/types/plugin_description.h>

#include <optional>
#include <string>
#include <string_view>

namespace ephost::session {

[[nodiscard]] std::string encode_description(const PluginDescription& description);

// Nothing unless `bytes` are exactly what `encode_description` could have written, with texts and
// lists of any content. Whatever the bytes are, no more memory is taken than some times their size.
[[nodiscard]] std::optional<PluginDescription> decode_description(std::string_view bytes);

}  // namespace ephost::session
