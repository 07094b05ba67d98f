#include "host/context/metadata.h"

#include <algorithm>
#include <charconv>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::context {
namespace {

constexpr std::string_view kPrefix = "ephost.ep_context.";
constexpr std::string_view kVersionKey = "version";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kBinary = "binary.";
constexpr std::string_view kEmbedded = "embedded.";
constexpr std::string_view kInitializers = "initializers.";
constexpr std::string_view kOriginal = "original.";
constexpr std::string_view kCompatibility = "compatibility.";
constexpr std::string_view kPayloadCompatibility = "payload_compatibility.";
constexpr std::string_view kSpecialization = "specialization.";
constexpr std::string_view kChecksumPrefix = "xxh3:";

Status malformed(const std::string& key, std::string_view reason) {
  return Status(StatusCode::kInvalidGraph,
                formatted("the model's metadata entry {} {}; compile the source model again",
                          quote(key), reason));
}

// Adds an entry. An identical one may be there already, as merged models repeat entries.
template <class Value>
Status add_entry(std::map<std::string, Value>& entries, const std::string& key,
                 std::string_view name, Value value) {
  const auto [entry, added] = entries.emplace(std::string(name), value);
  if (!added && entry->second != value)
    return malformed(key, "is stated twice with different values");
  return {};
}

Status add_checksum(std::map<std::string, ContentChecksum>& checksums, const std::string& key,
                    std::string_view name, const std::string& value) {
  const std::optional<ContentChecksum> checksum = parse_content_checksum(value);
  if (!checksum) return malformed(key, "holds " + quote(value) + ", which is not a checksum");
  return add_entry(checksums, key, name, *checksum);
}

// If `text` starts with `kind`, removes it.
bool take(std::string_view& text, std::string_view kind) {
  if (!text.starts_with(kind)) return false;
  text.remove_prefix(kind.size());
  return true;
}

Status read_entry(const std::string& key, const std::string& value, ContextMetadata& stated) {
  std::string_view rest = key;
  if (!take(rest, kPrefix)) return {};
  stated.is_stated = true;
  if (rest == kVersionKey) {
    if (value == kVersion) return {};
    return Status(StatusCode::kInvalidGraph,
                  formatted("the context model has format version {}, this host knows version {}; "
                            "compile the source model again",
                            quote(value), kVersion));
  }
  if (take(rest, kBinary)) return add_checksum(stated.binaries, key, rest, value);
  if (take(rest, kEmbedded)) return add_checksum(stated.embedded, key, rest, value);
  if (take(rest, kInitializers)) return add_checksum(stated.initializers, key, rest, value);
  if (take(rest, kOriginal)) return add_checksum(stated.originals, key, rest, value);
  if (take(rest, kCompatibility)) return add_entry(stated.compatibility, key, rest, value);
  if (take(rest, kPayloadCompatibility)) {
    return add_entry(stated.payload_compatibility, key, rest, value);
  }
  if (take(rest, kSpecialization)) {
    return add_checksum(stated.specializations, key, rest, value);
  }
  return malformed(key, "is of an unknown kind");
}

void append_texts(const std::map<std::string, std::string>& texts, std::string_view kind,
                  MetadataList& metadata) {
  for (const auto& [name, text] : texts) {
    metadata.emplace_back(std::string(kPrefix) + std::string(kind) + name, text);
  }
}

void append_checksums(const std::map<std::string, ContentChecksum>& checksums,
                      std::string_view kind, MetadataList& metadata) {
  for (const auto& [name, checksum] : checksums) {
    metadata.emplace_back(std::string(kPrefix) + std::string(kind) + name, to_string(checksum));
  }
}

}  // namespace

std::string to_string(const ContentChecksum& checksum) {
  return formatted("{}{}:{}", kChecksumPrefix, to_hex(checksum.hash), checksum.size);
}

std::optional<ContentChecksum> parse_content_checksum(std::string_view text) {
  constexpr size_t kHexDigits = 32;
  if (!take(text, kChecksumPrefix) || text.size() < kHexDigits + 2 || text[kHexDigits] != ':') {
    return std::nullopt;
  }
  const std::optional<Hash128> hash = parse_hash128(text.substr(0, kHexDigits));
  text.remove_prefix(kHexDigits + 1);
  uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (!hash || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return ContentChecksum{.hash = *hash, .size = size};
}

bool has_context_metadata(const MetadataList& metadata) {
  return std::any_of(metadata.begin(), metadata.end(),
                     [](const auto& entry) { return entry.first.starts_with(kPrefix); });
}

Result<ContextMetadata> read_metadata(const MetadataList& metadata) {
  ContextMetadata stated;
  for (const auto& [key, value] : metadata) {
    EPHOST_RETURN_IF_ERROR(read_entry(key, value, stated));
  }
  return stated;
}

void write_metadata(const ContextMetadata& stated, MetadataList& metadata) {
  std::erase_if(metadata, [](const auto& entry) { return entry.first.starts_with(kPrefix); });
  if (stated.empty()) return;
  metadata.emplace_back(std::string(kPrefix) + std::string(kVersionKey), kVersion);
  append_checksums(stated.binaries, kBinary, metadata);
  append_checksums(stated.embedded, kEmbedded, metadata);
  append_checksums(stated.initializers, kInitializers, metadata);
  append_checksums(stated.originals, kOriginal, metadata);
  append_texts(stated.compatibility, kCompatibility, metadata);
  append_texts(stated.payload_compatibility, kPayloadCompatibility, metadata);
  append_checksums(stated.specializations, kSpecialization, metadata);
}

}  // namespace ephost::context
