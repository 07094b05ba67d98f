// The equation of Einsum, parsed once: the label of each dimension of each operand.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/cpu/core/dims.h"

namespace ephost_cpu {

// Letters are labels, and so is each dimension that an ellipsis stands for.
inline constexpr std::size_t kLabelCount = 52 + kMaxRank;

class EinsumEquation {
 public:
  // Throws if the text is not an equation.
  explicit EinsumEquation(std::string_view text);

  [[nodiscard]] std::size_t operands() const { return terms_.size(); }

  // How many dimensions the ellipsis of operand `i` stands for, if that has `rank` of them; 0
  // without an ellipsis. Throws if the rank doesn't fit.
  [[nodiscard]] std::size_t ellipsis_size(std::size_t i, std::size_t rank) const;

  // A label for each dimension of operand `i`, where the largest ellipsis of all operands stands
  // for `ellipsis` dimensions. Smaller ones are aligned at their end.
  [[nodiscard]] Dims labels(std::size_t i, std::size_t rank, std::size_t ellipsis) const;
  [[nodiscard]] Dims output_labels(std::size_t ellipsis) const;

 private:
  // One character for each label, kEllipsis for an ellipsis.
  static constexpr char kEllipsis = '.';
  static std::string read_term(std::string_view text);
  static Dims expand(const std::string& term, std::size_t size, std::size_t ellipsis);
  void derive_output();
  void check_output() const;

  std::vector<std::string> terms_;
  std::string output_;
};

}  // namespace ephost_cpu
