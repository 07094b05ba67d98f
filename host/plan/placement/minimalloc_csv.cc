#include "host/plan/placement/minimalloc_csv.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::plan {
namespace {

enum Column : uint8_t { kId, kLower, kUpper, kSize, kOffset, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"id", "lower", "upper", "size",
                                                           "offset"};

struct Field {
  std::string_view text;
  size_t column = 0;  // of its first byte, starting at 1
};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<Field> split(std::string_view line) {
  std::vector<Field> fields;
  size_t begin = 0;
  for (;;) {
    const size_t end = std::min(line.find(',', begin), line.size());
    const std::string_view text = trimmed(line.substr(begin, end - begin));
    const bool is_empty = text.empty();
    fields.push_back(
        {text, is_empty ? begin + 1 : static_cast<size_t>(text.data() - line.data()) + 1});
    if (end == line.size()) return fields;
    begin = end + 1;
  }
}

// Parses one text, line by line.
class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  [[nodiscard]] Result<BufferTable> read() &&;

 private:
  [[nodiscard]] bool next_line();
  [[nodiscard]] Status read_header();
  [[nodiscard]] Status read_row();
  template <class Number>
  [[nodiscard]] Status parse(Column column, const std::vector<Field>& fields, Number& number) const;
  [[nodiscard]] Status refuse(size_t column, const std::string& what) const;

  std::string_view rest_;
  std::string_view name_;
  std::string_view line_;
  size_t line_number_ = 0;
  std::array<std::optional<size_t>, kColumns> position_;  // of each column, in the header's order
  size_t width_ = 0;                                      // number of columns
  BufferTable table_;
  std::set<std::string, std::less<>> seen_;
};

Result<BufferTable> Reader::read() && {
  if (!next_line()) {
    line_number_ = 1;
    return refuse(1, "the text is empty; the first line must be `id,lower,upper,size`");
  }
  EPHOST_RETURN_IF_ERROR(read_header());
  while (next_line()) EPHOST_RETURN_IF_ERROR(read_row());
  return std::move(table_);
}

// Skips blank lines; a carriage return before the line feed is ignored.
bool Reader::next_line() {
  while (!rest_.empty()) {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_number_;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    if (!trimmed(line_).empty()) return true;
  }
  return false;
}

Status Reader::read_header() {
  const std::vector<Field> fields = split(line_);
  width_ = fields.size();
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto found = std::ranges::find(kNames, fields[i].text);
    if (found == kNames.end()) {
      return refuse(fields[i].column, "unknown column " + quote(fields[i].text) +
                                          "; the columns are id, lower, upper, size and offset");
    }
    std::optional<size_t>& position = position_[static_cast<size_t>(found - kNames.begin())];
    if (position) {
      return refuse(fields[i].column, "column " + quote(fields[i].text) + " is listed twice");
    }
    position = i;
  }
  for (const Column column : {kId, kLower, kUpper, kSize}) {
    if (!position_[column]) return refuse(1, "column " + quote(kNames[column]) + " is missing");
  }
  return Status::ok_status();
}

Status Reader::read_row() {
  const std::vector<Field> fields = split(line_);
  if (fields.size() != width_) {
    return refuse(fields.back().column, formatted("the line has {} fields, but the header has {}",
                                                  fields.size(), width_));
  }
  const Field& id = fields[*position_[kId]];
  if (id.text.empty()) return refuse(id.column, "the id is empty");
  if (!seen_.emplace(id.text).second) {
    return refuse(id.column, "id " + quote(id.text) + " is already used");
  }
  Buffer buffer;
  EPHOST_RETURN_IF_ERROR(parse(kLower, fields, buffer.lower));
  EPHOST_RETURN_IF_ERROR(parse(kUpper, fields, buffer.upper));
  EPHOST_RETURN_IF_ERROR(parse(kSize, fields, buffer.size));
  if (buffer.lower >= buffer.upper) {
    return refuse(fields[*position_[kUpper]].column,
                  formatted("upper {} must be above lower {}", buffer.upper, buffer.lower));
  }
  if (position_[kOffset]) {
    EPHOST_RETURN_IF_ERROR(parse(kOffset, fields, table_.offsets.emplace_back()));
  }
  table_.ids.emplace_back(id.text);
  table_.buffers.push_back(buffer);
  return Status::ok_status();
}

template <class Number>
Status Reader::parse(Column column, const std::vector<Field>& fields, Number& number) const {
  const Field& field = fields[*position_[column]];
  const char* end = field.text.data() + field.text.size();
  const auto [stop, error] = std::from_chars(field.text.data(), end, number);
  if (error == std::errc() && stop == end) return Status::ok_status();
  return refuse(field.column,
                formatted("{} is {}; it must be an integer from 0 to {}", kNames[column],
                          quote(field.text), std::numeric_limits<Number>::max()));
}

Status Reader::refuse(size_t column, const std::string& what) const {
  return {StatusCode::kInvalidArgument,
          formatted("{}:{}:{}: {}", name_, line_number_, column, what)};
}

}  // namespace

Result<BufferTable> read_minimalloc_csv(std::string_view text, std::string_view name) {
  return Reader(text, name).read();
}

std::string write_minimalloc_csv(const BufferTable& table, std::span<const uint64_t> offsets) {
  assert(offsets.size() == table.buffers.size());
  std::string text = "id,lower,upper,size,offset\n";
  for (size_t i = 0; i < table.buffers.size(); ++i) {
    const auto& [lower, upper, size] = table.buffers[i];
    text += formatted("{},{},{},{},{}\n", table.ids[i], lower, upper, size, offsets[i]);
  }
  return text;
}

}  // namespace ephost::plan
