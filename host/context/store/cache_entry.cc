#include "host/context/store/cache_entry.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "host/base/format.h"
#include "host/context/store/cache_key.h"

namespace ephost::context {
namespace {

constexpr std::string_view kChecksumLine = "\nchecksum: ";

Status damaged(std::string_view what) {
  return Status(StatusCode::kInvalidGraph, "the description of the entry " + std::string(what));
}

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// nullopt unless the text is a digest in lower-case hexadecimal digits.
std::optional<std::string> parse_digest(std::string_view text) {
  constexpr size_t kDigits = 64;
  const bool is_hex = text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_hex && text.size() == kDigits ? std::optional(std::string(text)) : std::nullopt;
}

// Adds the entry of a line "<value> <name>"; false if the line is malformed.
template <class Value>
bool add_line(std::string_view line, std::optional<Value> (*parse)(std::string_view),
              std::vector<std::pair<std::string, Value>>& out) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::optional<Value> value = parse(line.substr(0, space));
  if (!value || space == line.size()) return false;
  out.emplace_back(std::string(line.substr(space + 1)), *value);
  return true;
}

}  // namespace

std::vector<std::pair<std::string, ContentChecksum>> entry_files(
    std::span<const WrittenFile> files) {
  std::vector<std::pair<std::string, ContentChecksum>> named;
  for (const WrittenFile& file : files) {
    named.emplace_back(file.path.filename().native(), file.checksum);
  }
  return named;
}

std::string to_text(const CacheEntry& entry) {
  std::string text = entry.key_text + "\n";
  for (const auto& [name, checksum] : entry.files)
    append_line(text, "file", formatted("{} {}", to_string(checksum), name));
  for (const auto& [name, nodes] : entry.partitions) {
    append_line(text, "partition", formatted("{} {}", nodes, name));
  }
  for (const auto& [name, digest] : entry.contexts) {
    append_line(text, "context", formatted("{} {}", digest, name));
  }
  append_line(text, "model name", entry.model_name);
  append_line(text, "checksum", cache_key_id(text));
  return text;
}

Result<CacheEntry> parse_cache_entry(std::string_view text) {
  const size_t checksum_at = text.rfind(kChecksumLine);
  if (checksum_at == std::string_view::npos) return damaged("has no checksum; it is cut off");
  const std::string_view covered = text.substr(0, checksum_at + 1);
  std::string expected(covered);
  append_line(expected, "checksum", cache_key_id(covered));
  if (expected != text) return damaged("does not have the checksum that it declares");

  const size_t key_end = covered.find("\n\n");
  if (key_end == std::string_view::npos) return damaged("has no list of files");
  CacheEntry entry{.key_text = std::string(covered.substr(0, key_end + 1))};
  for (auto& [name, value] : parse_lines(covered.substr(key_end + 2))) {
    if (name == "model name") {
      entry.model_name = std::move(value);
    } else if (name == "file" && !add_line(value, &parse_content_checksum, entry.files)) {
      return damaged("lists a file without a checksum");
    } else if (name == "partition" && !add_line(value, &parse_number, entry.partitions)) {
      return damaged("lists a partition without its nodes");
    } else if (name == "context" && !add_line(value, &parse_digest, entry.contexts)) {
      return damaged("lists a context without its digest");
    }
  }
  return entry;
}

}  // namespace ephost::context
