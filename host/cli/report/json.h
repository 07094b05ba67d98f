// A JSON document to print, or to pass between the processes of a benchmark. Members keep the order
// in which they were added. Wraps nlohmann-json, whose headers only json.cc reads: they take
// seconds to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ephost::cli {

class Json {
 public:
  using Member = std::pair<std::string_view, Json>;

  Json();  // null
  // NOLINTBEGIN(google-explicit-constructor): values turn into JSON where they are used as such.
  Json(std::nullptr_t);
  Json(double number);
  template <std::integral Number>
  Json(Number number) : Json() {
    if constexpr (std::same_as<Number, bool>) {
      set_bool(number);
    } else if constexpr (std::signed_integral<Number>) {
      set_signed(number);
    } else {
      set_unsigned(number);
    }
  }
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  // An array of the elements.
  template <std::ranges::input_range Range>
  requires(!std::convertible_to<const Range&, std::string_view>) Json(const Range& elements)
      : Json(array()) {
    for (const auto& element : elements) push_back(element);
  }
  // An object.
  Json(std::initializer_list<Member> members);
  // NOLINTEND(google-explicit-constructor)
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object();

  // Appends to an array.
  void push_back(Json element);
  // The number of elements or members.
  [[nodiscard]] size_t size() const;
  // The elements; empty unless it is an array.
  [[nodiscard]] std::vector<Json> elements() const;

  // Adds a member to an object, or replaces the one of that name.
  void set(std::string_view name, Json value);
  // Sets all members of another object.
  void update(const Json& other);
  // A member; null without one of that name.
  [[nodiscard]] Json member(std::string_view name) const;

  // The value itself; 0 or empty where it is of another kind.
  [[nodiscard]] double number() const;
  [[nodiscard]] std::string string() const;
  [[nodiscard]] bool is_null() const;

  // The document on one line, to be parsed again. Bytes that are not UTF-8 become U+FFFD.
  [[nodiscard]] std::string dump() const;
  // Null for a text that is not a JSON document.
  [[nodiscard]] static Json parse(std::string_view text);

 private:
  friend std::string to_text(const Json& json);
  explicit Json(nlohmann::ordered_json value);
  void set_bool(bool value);
  void set_signed(int64_t value);
  void set_unsigned(uint64_t value);

  std::unique_ptr<nlohmann::ordered_json> value_;
};

// Indented, with a newline; well-formed UTF-8 whatever the strings are, and safe for a terminal.
[[nodiscard]] std::string to_text(const Json& json);

}  // namespace ephost::cli
