// The key of an entry of the cache store: the checksum of a text that lists everything a compiled
// model depends on. Pure; host/session collects the ingredients.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/context/metadata.h"

namespace ephost::context {

using TextPairs = std::vector<std::pair<std::string, std::string>>;

struct CacheDevice {
  std::string type;
  std::string id;
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string driver_version;
};

struct CacheProvider {
  std::string name;
  std::string plugin_id;
  std::string plugin_version;
  std::string abi;  // negotiated version, "major.minor"
  // The version alone does not distinguish two builds of a plugin.
  ContentChecksum library;
  TextPairs options;                 // validated, defaults included
  std::vector<CacheDevice> devices;  // those that it compiles for
  bool has_target = false;           // it compiles for a target: `devices` need not be present
  std::string compatibility;         // the provider's text: SDK, driver, hardware
};

// The partitioning is not an ingredient: it is computed from these by code of the host and of the
// plugins, whose versions they include. So a hit does not have to ask the providers for claims.
struct CacheIngredients {
  std::string host_version;
  std::string abi;                                       // the host's, "major.minor"
  ContentChecksum model;                                 // the bytes of the model file
  std::map<std::string, ContentChecksum> external_data;  // by stated location
  TextPairs session_options;                             // those that affect compilation
  std::vector<CacheProvider> providers;                  // in priority order
};

struct CacheKey {
  std::string text;  // one line for each ingredient; ends with a newline
  std::string id;    // 32 hexadecimal digits, the checksum of the text
};

[[nodiscard]] CacheKey make_cache_key(const CacheIngredients& ingredients);

// The lines of a key that describe one provider, the first of which has its name. With the graph
// of a partition they identify what the provider compiles of it.
[[nodiscard]] std::string provider_lines(const CacheProvider& provider);

// The hash of the text of a key, in 32 hexadecimal digits.
[[nodiscard]] std::string cache_key_id(std::string_view text);
// Whether `name` has the form of a key id.
[[nodiscard]] bool is_cache_key_id(std::string_view name);

// Appends a line "name: value". Backslashes and newlines in `value` are escaped, so that a value
// cannot forge a line.
void append_line(std::string& text, std::string_view name, std::string_view value);
// Parses lines written by append_line and unescapes their values; skips all other lines.
[[nodiscard]] TextPairs parse_lines(std::string_view text);

}  // namespace ephost::context
