#include "host/manifest/field.h"

#include <algorithm>
#include <optional>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/scalar.h"

namespace ephost::manifest {

namespace {

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kScalar:
      break;
  }
  if (node.quoted) return "the text " + quote(node.text);
  if (parse_boolean_word(node.text)) return "the truth value " + node.text;
  if (parse_number(node.text)) return "the number " + node.text;
  return quote(node.text);
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    return control && c != '\n' && c != '\t';
  });
}

}  // namespace

Status Field::error(std::string_view problem) const {
  const std::string where = key_.empty() ? "" : "key " + quote(key_) + ": ";
  return error_at(*file_, place_, where + std::string(problem));
}

Status Field::mismatch(std::string_view expected) const {
  return error(formatted("expected {}, found {}", expected, describe(*node_)));
}

bool Field::is_plain_boolean() const {
  return is_scalar() && !node_->quoted && parse_boolean_word(node_->text).has_value();
}

Result<std::string> Field::any_text() const {
  if (!is_scalar()) return mismatch("text");
  if (!node_->quoted && (parse_number(node_->text) || is_plain_boolean())) {
    return error(formatted("expected text, found {}; put it in quotes", describe(*node_)));
  }
  return scalar();
}

Result<std::string> Field::text() const {
  EPHOST_ASSIGN_OR_RETURN(std::string text, any_text());
  if (text.empty()) return error("the text is empty; fill it in");
  return text;
}

Result<std::string> Field::scalar() const {
  if (!is_scalar()) return mismatch("one value");
  if (has_control_character(node_->text)) {
    return error("the text contains a control character; remove it");
  }
  return node_->text;
}

Result<int64_t> Field::integer() const {
  if (!is_scalar() || node_->quoted) return mismatch("a whole number without quotes");
  const std::optional<int64_t> value = parse_integer(node_->text);
  if (!value) return mismatch("a whole number of at most 64 bits");
  return *value;
}

Result<uint32_t> Field::unsigned_number() const {
  EPHOST_ASSIGN_OR_RETURN(const int64_t value, integer());
  const std::optional<uint32_t> number = checked_cast<uint32_t>(value);
  if (!number) return mismatch("a whole number from 0 to 4294967295");
  return *number;
}

Result<double> Field::number() const {
  if (!is_scalar() || node_->quoted) return mismatch("a number without quotes");
  const std::optional<double> value = parse_number(node_->text);
  if (!value) return mismatch("a number");
  return *value;
}

Result<bool> Field::boolean() const {
  if (!is_plain_boolean()) return mismatch("true or false");
  return *parse_boolean_word(node_->text);
}

Result<std::vector<Field>> Field::list() const {
  if (node_->kind != YamlNode::Kind::kSequence) return mismatch("a list");
  std::vector<Field> fields;
  for (size_t i = 0; i < node_->items.size(); ++i) {
    fields.push_back(Field(node_->items[i], *file_, formatted("{}[{}]", key_, i)));
  }
  return fields;
}

Result<std::vector<std::string>> Field::text_list() const {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<Field> fields, list());
  std::vector<std::string> texts;
  for (const Field& field : fields) {
    EPHOST_ASSIGN_OR_RETURN(std::string text, field.text());
    if (std::find(texts.begin(), texts.end(), text) != texts.end()) {
      return field.error(formatted("{} is listed twice; remove one of the two", quote(text)));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

Field Field::child(const YamlEntry& entry) const {
  Field field(entry.value, *file_, key_.empty() ? entry.key : key_ + "." + entry.key);
  field.key_place_ = entry.place;
  return field;
}

Field Field::at_key() const {
  Field field = *this;
  field.place_ = key_place_;
  return field;
}

Result<std::vector<std::pair<std::string, Field>>> Field::entries() const {
  if (node_->kind != YamlNode::Kind::kMap) return mismatch("a map (key: value)");
  std::vector<std::pair<std::string, Field>> fields;
  for (const YamlEntry& entry : node_->entries) fields.emplace_back(entry.key, child(entry));
  return fields;
}

Result<FieldMap> Field::map(std::span<const std::string_view> known) const {
  std::vector<PlacedError> unknown;
  EPHOST_ASSIGN_OR_RETURN(FieldMap fields, map(known, unknown));
  if (!unknown.empty()) return std::move(unknown.front().status);
  return fields;
}

Result<FieldMap> Field::map(std::span<const std::string_view> known,
                            std::vector<PlacedError>& unknown) const {
  FieldMap fields(*this);
  EPHOST_ASSIGN_OR_RETURN(fields.fields_, entries());
  for (const auto& [key, field] : fields.fields_) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::optional<std::string_view> nearest = nearest_match(key, known);
    const std::string remedy = nearest ? formatted("did you mean {}?", quote(*nearest))
                                       : "remove it; the keys here are " + join(known, ", ");
    unknown.push_back(
        {field.key_place_,
         error_at(*file_, field.key_place_, "unknown key " + quote(field.key_) + "; " + remedy)});
  }
  return fields;
}

const Field* FieldMap::find(std::string_view key) const {
  for (const auto& [name, field] : fields_) {
    if (name == key) return &field;
  }
  return nullptr;
}

Result<Field> FieldMap::require(std::string_view key, std::string_view example) const {
  if (const Field* field = find(key)) return *field;
  return map_.error(
      formatted("the key {} is missing; add a line like \"{}: {}\"", quote(key), key, example));
}

}  // namespace ephost::manifest
