#include "host/context/store/cache_key.h"

#include <algorithm>

namespace ephost::context {
namespace {

// To be incremented when what the host compiles or stores changes within one version.
constexpr std::string_view kKeyFormat = "2";

std::string unescape(std::string_view value) {
  std::string plain;
  for (size_t i = 0; i < value.size(); ++i) {
    const bool escaped = value[i] == '\\' && i + 1 < value.size();
    if (escaped) ++i;
    plain += escaped && value[i] == 'n' ? '\n' : value[i];
  }
  return plain;
}

}  // namespace

void append_line(std::string& text, std::string_view name, std::string_view value) {
  text += name;
  text += ": ";
  for (const char c : value) {
    if (c == '\\' || c == '\n') text += '\\';
    text += c == '\n' ? 'n' : c;
  }
  text += '\n';
}

TextPairs parse_lines(std::string_view text) {
  TextPairs lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    lines.emplace_back(std::string(line.substr(0, colon)), unescape(line.substr(colon + 2)));
  }
  return lines;
}

std::string cache_key_id(std::string_view text) {
  return to_hex(content_checksum(std::as_bytes(std::span(text.data(), text.size()))));
}

bool is_cache_key_id(std::string_view name) {
  const auto hash = parse_hash128(name);
  return hash && to_hex(*hash) == name;
}

std::string provider_lines(const CacheProvider& provider) {
  std::string text;
  append_line(text, "provider", provider.name);
  append_line(text, "plugin", provider.plugin_id);
  append_line(text, "plugin version", provider.plugin_version);
  append_line(text, "plugin abi", provider.abi);
  append_line(text, "plugin library", to_string(provider.library));
  for (const auto& [name, value] : provider.options) {
    append_line(text, "provider option", name + "=" + value);
  }
  const std::string label = provider.has_target ? "target" : "device";
  for (const CacheDevice& device : provider.devices) {
    append_line(text, label, device.type);
    append_line(text, label + " id", device.id);
    append_line(text, label + " name", device.name);
    append_line(text, label + " vendor", device.vendor);
    append_line(text, label + " architecture", device.architecture);
    append_line(text, label + " driver", device.driver_version);
  }
  append_line(text, "compatibility", provider.compatibility);
  return text;
}

CacheKey make_cache_key(const CacheIngredients& ingredients) {
  CacheKey key;
  append_line(key.text, "format", kKeyFormat);
  append_line(key.text, "host version", ingredients.host_version);
  append_line(key.text, "host abi", ingredients.abi);
  append_line(key.text, "model", to_string(ingredients.model));
  for (const auto& [location, checksum] : ingredients.external_data) {
    append_line(key.text, "external data", to_string(checksum) + " " + location);
  }
  for (const auto& [name, value] : ingredients.session_options) {
    append_line(key.text, "session option", name + "=" + value);
  }
  for (const CacheProvider& provider : ingredients.providers) key.text += provider_lines(provider);
  key.id = cache_key_id(key.text);
  return key;
}

}  // namespace ephost::context
