// A location in a parsed YAML file with the key path that leads to it. Reads the value as a type,
// or says where and why that fails. Shared by the readers of manifests and selections; internal to
// the folder.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/manifest/yaml_tree.h"

namespace ephost::manifest {

class FieldMap;

// Borrows the tree and the file name, which must outlive it.
class Field {
 public:
  static Field root(const YamlNode& node, const std::filesystem::path& file) {
    return {node, file, {}};
  }

  // Returns INVALID_ARGUMENT: "file:line:column: key "a.b[0]": <problem>".
  [[nodiscard]] Status error(std::string_view problem) const;

  // A non-empty string. A plain number or truth value is an error: it must be quoted.
  [[nodiscard]] Result<std::string> text() const;
  // Like `text`, but "" is allowed.
  [[nodiscard]] Result<std::string> any_text() const;
  [[nodiscard]] Result<int64_t> integer() const;
  // A whole number from 0 to 2^32 - 1.
  [[nodiscard]] Result<uint32_t> unsigned_number() const;
  // Any number except NaN.
  [[nodiscard]] Result<double> number() const;
  [[nodiscard]] Result<bool> boolean() const;
  // The text of a scalar of any type.
  [[nodiscard]] Result<std::string> scalar() const;
  // Whether this is an unquoted true or false.
  [[nodiscard]] bool is_plain_boolean() const;
  [[nodiscard]] bool is_scalar() const { return node_->kind == YamlNode::Kind::kScalar; }

  [[nodiscard]] Result<std::vector<Field>> list() const;
  // A list of strings without duplicates.
  [[nodiscard]] Result<std::vector<std::string>> text_list() const;
  // A map with user-defined keys.
  [[nodiscard]] Result<std::vector<std::pair<std::string, Field>>> entries() const;
  // A map; a key that is not in `known` is an error.
  [[nodiscard]] Result<FieldMap> map(std::span<const std::string_view> known) const;
  // The same, where each such key is added to `unknown` instead.
  [[nodiscard]] Result<FieldMap> map(std::span<const std::string_view> known,
                                     std::vector<PlacedError>& unknown) const;
  // The location of the key itself, for problems with the key.
  [[nodiscard]] Field at_key() const;
  // Where errors of this field are.
  [[nodiscard]] Place place() const { return place_; }

 private:
  friend class FieldMap;
  Field(const YamlNode& node, const std::filesystem::path& file, std::string key)
      : node_(&node), file_(&file), key_(std::move(key)), place_(node.place), key_place_(place_) {}
  Field child(const YamlEntry& entry) const;
  Status mismatch(std::string_view expected) const;

  const YamlNode* node_;
  const std::filesystem::path* file_;
  std::string key_;  // path from the root; empty for the root
  Place place_;
  Place key_place_;
};

// The entries of a map with known keys.
class FieldMap {
 public:
  // Null if the key is absent.
  [[nodiscard]] const Field* find(std::string_view key) const;
  // Returns INVALID_ARGUMENT at the map if the key is missing; `example` shows how to write it.
  [[nodiscard]] Result<Field> require(std::string_view key, std::string_view example) const;

 private:
  friend class Field;
  explicit FieldMap(Field map) : map_(std::move(map)) {}

  Field map_;
  std::vector<std::pair<std::string, Field>> fields_;
};

}  // namespace ephost::manifest
