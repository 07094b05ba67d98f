// The key of an entry of the cache store: the content checksum of a text that states, line by line,
// all that a compiled model depends on. Pure; what the ingredients are on this machine is found out
// by host/session.
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
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string driver_version;
};

struct CacheProvider {
  std::string name;
  std::string plugin_id;
  std::string plugin_version;
  std::string abi;  // that was negotiated, "major.minor"
  // The version alone would not tell two builds of a plugin apart.
  ContentChecksum library;
  TextPairs options;  // as validated, defaults included
  std::vector<CacheDevice> devices;
  std::string compatibility;  // what its contexts depend on in its own words: SDK, driver, hardware
};

// Claims, and so the partitioning, come from these by code of the host and of the plugins, whose
// versions are among them; that is why the partitioning itself is no ingredient, and a hit doesn't
// have to ask for it.
struct CacheIngredients {
  std::string host_version;
  std::string abi;                                       // the host's, "major.minor"
  ContentChecksum model;                                 // the bytes of the model file
  std::map<std::string, ContentChecksum> external_data;  // by the location that the model states
  TextPairs session_options;                             // those that change what is compiled
  std::vector<CacheProvider> providers;                  // in priority order
};

struct CacheKey {
  std::string text;  // what it is made of, a line each; ends with a newline
  std::string id;    // 32 hexadecimal digits, the checksum of the text
};

[[nodiscard]] CacheKey make_cache_key(const CacheIngredients& ingredients);

// The checksum of a key's text.
[[nodiscard]] std::string cache_key_id(std::string_view text);
// Whether `name` could be one.
[[nodiscard]] bool is_cache_key_id(std::string_view name);

// Lines "name: value" of which no value can look like further lines.
void append_line(std::string& text, std::string_view name, std::string_view value);
// The reverse, as far as the text consists of such lines; values without escapes.
[[nodiscard]] TextPairs parse_lines(std::string_view text);

}  // namespace ephost::context
