// Tables for terminals, with columns as wide as their widest cell. Text in, text out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::cli {

enum class Align { kLeft, kRight };

// With spaces up to that many columns of a terminal.
[[nodiscard]] std::string padded(std::string_view text, size_t width, Align align = Align::kLeft);

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column. Cells are made printable; long ones are not cut.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  // Titles and rows, two spaces between columns, no spaces at the ends of lines.
  [[nodiscard]] std::string to_text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Lines "name   value" with the names padded to one width, e.g. for summaries.
class Facts {
 public:
  void add(std::string_view name, std::string_view value);
  [[nodiscard]] std::string to_text() const;

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

}  // namespace ephost::cli
