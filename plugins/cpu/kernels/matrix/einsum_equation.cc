#include "plugins/cpu/kernels/matrix/einsum_equation.h"

#include <algorithm>
#include <iterator>

namespace ephost_cpu {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int64_t label_of(char letter) { return letter >= 'a' ? 26 + (letter - 'a') : letter - 'A'; }

std::string without_spaces(std::string_view text) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept), [](char c) { return c != ' '; });
  return kept;
}

}  // namespace

EinsumEquation::EinsumEquation(std::string_view text) {
  const std::string equation = without_spaces(text);
  const std::size_t arrow = equation.find("->");
  std::string_view left = std::string_view(equation).substr(0, arrow);
  for (;;) {
    const std::size_t comma = left.find(',');
    terms_.push_back(read_term(left.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (arrow == std::string::npos) {
    derive_output();
    return;
  }
  output_ = read_term(std::string_view(equation).substr(arrow + 2));
  check_output();
}

std::string EinsumEquation::read_term(std::string_view text) {
  std::string term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) {
      term += text[i];
    } else if (text.substr(i, 3) == "..." && term.find(kEllipsis) == std::string::npos) {
      term += kEllipsis;
      i += 2;
    } else {
      fail("equation: '" + std::string(text) +
           "' is not a term of letters and at most one ellipsis");
    }
  }
  if (term.size() > kMaxRank) fail_unsupported("equation: '" + term + "' has too many dimensions");
  return term;
}

// Without an arrow: the dimensions of the ellipsis, then all letters that appear only once.
void EinsumEquation::derive_output() {
  std::string all;
  for (const std::string& term : terms_) all += term;
  std::sort(all.begin(), all.end());
  if (all.find(kEllipsis) != std::string::npos) output_ += kEllipsis;
  for (const char c : all) {
    if (c != kEllipsis && std::count(all.begin(), all.end(), c) == 1) output_ += c;
  }
  if (output_.size() > kMaxRank) fail_unsupported("equation: the output has too many dimensions");
}

void EinsumEquation::check_output() const {
  for (const char c : output_) {
    const bool known = std::any_of(terms_.begin(), terms_.end(), [c](const std::string& term) {
      return term.find(c) != std::string::npos;
    });
    // An ellipsis may stand for nothing.
    if ((!known && c != kEllipsis) || std::count(output_.begin(), output_.end(), c) != 1) {
      fail(std::string("equation: '") + c + "' in the output is unknown or appears twice");
    }
  }
}

std::size_t EinsumEquation::ellipsis_size(std::size_t i, std::size_t rank) const {
  const std::string& term = terms_[i];
  const bool has_ellipsis = term.find(kEllipsis) != std::string::npos;
  const std::size_t letters = term.size() - (has_ellipsis ? 1 : 0);
  if (has_ellipsis ? rank < letters : rank != letters) {
    fail("input " + std::to_string(i) + " has rank " + std::to_string(rank) +
         ", which does not fit the equation's " + std::to_string(letters) + " letters");
  }
  return rank - letters;
}

Dims EinsumEquation::expand(const std::string& term, std::size_t size, std::size_t ellipsis) {
  Dims labels;
  for (const char c : term) {
    if (c != kEllipsis) {
      labels.push_back(label_of(c));
      continue;
    }
    for (std::size_t d = ellipsis - size; d < ellipsis; ++d) {
      labels.push_back(static_cast<int64_t>(52 + d));
    }
  }
  return labels;
}

Dims EinsumEquation::labels(std::size_t i, std::size_t rank, std::size_t ellipsis) const {
  return expand(terms_[i], ellipsis_size(i, rank), ellipsis);
}

Dims EinsumEquation::output_labels(std::size_t ellipsis) const {
  Dims labels = expand(output_, ellipsis, ellipsis);
  if (labels.size() > kMaxRank) fail_unsupported("the output has too many dimensions");
  return labels;
}

}  // namespace ephost_cpu
