// Remarks for an ImportReport, with a limit: a hostile or huge model must not produce one sentence
// for each of its nodes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"

namespace ephost::onnx_io {

class Notes {
 public:
  static constexpr size_t kMaxNotes = 100;

  void add(std::string note) {
    if (notes_.size() < kMaxNotes) {
      notes_.push_back(std::move(note));
    } else {
      ++omitted_;
    }
  }

  [[nodiscard]] std::vector<std::string> take() && {
    if (omitted_ > 0) notes_.push_back(formatted("and {} more of this kind", omitted_));
    return std::move(notes_);
  }

 private:
  std::vector<std::string> notes_;
  size_t omitted_ = 0;
};

}  // namespace ephost::onnx_io
