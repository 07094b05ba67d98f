#include "host/cli/report/table.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "host/cli/report/output.h"

namespace ephost::cli {
namespace {

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::string padded(std::string_view text, size_t width, Align align) {
  const std::string space(width - std::min(width, column_count(text)), ' ');
  std::string line(align == Align::kLeft ? text : space);
  return line.append(align == Align::kLeft ? space : text);
}

void Table::add_row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = printable_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::to_text() const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    size_t widest = column_count(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, column_count(row[i]));
    widths.push_back(widest);
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      line += padded(cells[i], widths[i], columns_[i].align);
    }
    trim_end(line);
    text += line + "\n";
  };
  append(titles);
  for (const auto& row : rows_) append(row);
  return text;
}

void Facts::add(std::string_view name, std::string_view value) {
  facts_.emplace_back(name, printable_line(value));
}

std::string Facts::to_text() const {
  size_t widest = 0;
  for (const auto& [name, value] : facts_) widest = std::max(widest, column_count(name));
  std::string text;
  for (const auto& [name, value] : facts_) {
    std::string line = padded(name, widest, Align::kLeft) + "  " + value;
    trim_end(line);
    text += line + "\n";
  }
  return text;
}

}  // namespace ephost::cli
