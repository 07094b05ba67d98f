#include "host/cli/report/json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "host/base/printable.h"

namespace ephost::cli {

using nlohmann::ordered_json;

Json::Json() : value_(std::make_unique<ordered_json>()) {}
Json::Json(std::nullptr_t) : Json() {}
Json::Json(double number) : value_(std::make_unique<ordered_json>(number)) {}
Json::Json(std::string_view text) : value_(std::make_unique<ordered_json>(text)) {}
Json::Json(ordered_json value) : value_(std::make_unique<ordered_json>(std::move(value))) {}

Json::Json(std::initializer_list<Member> members) : Json(object()) {
  for (const auto& [name, value] : members) set(name, value);
}

Json::Json(const Json& other) : value_(std::make_unique<ordered_json>(*other.value_)) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}
Json::~Json() = default;

void Json::set_bool(bool value) { value_ = std::make_unique<ordered_json>(value); }
void Json::set_signed(int64_t value) { value_ = std::make_unique<ordered_json>(value); }
void Json::set_unsigned(uint64_t value) { value_ = std::make_unique<ordered_json>(value); }

Json Json::array() { return Json(ordered_json::array()); }
Json Json::object() { return Json(ordered_json::object()); }

void Json::push_back(Json element) { value_->push_back(std::move(*element.value_)); }

size_t Json::size() const { return value_->size(); }

std::vector<Json> Json::elements() const {
  std::vector<Json> elements;
  if (!value_->is_array()) return elements;
  for (const ordered_json& element : *value_) elements.push_back(Json(element));
  return elements;
}

void Json::set(std::string_view name, Json value) {
  (*value_)[std::string(name)] = std::move(*value.value_);
}

void Json::update(const Json& other) { value_->update(*other.value_); }

Json Json::member(std::string_view name) const {
  if (!value_->is_object()) return {};
  const auto found = value_->find(std::string(name));
  return found == value_->end() ? Json() : Json(*found);
}

double Json::number() const { return value_->is_number() ? value_->get<double>() : 0; }

std::string Json::string() const {
  return value_->is_string() ? value_->get<std::string>() : std::string();
}

bool Json::is_null() const { return value_->is_null(); }

std::string Json::dump() const {
  return value_->dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Json Json::parse(std::string_view text) {
  ordered_json value = ordered_json::parse(text, nullptr, false);
  return value.is_discarded() ? Json() : Json(std::move(value));
}

std::string to_text(const Json& json) {
  return printable_json(json.value_->dump(2, ' ', false, ordered_json::error_handler_t::replace)) +
         "\n";
}

}  // namespace ephost::cli
