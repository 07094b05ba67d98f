// Remarks for an ImportReport, with a limit: a hostile or huge model must not produce one sentence
// for each of its nodes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

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
    if (omitted_ > 0) notes_.push_back("and " + std::to_string(omitted_) + " more of this kind");
    return std::move(notes_);
  }

 private:
  std::vector<std::string> notes_;
  size_t omitted_ = 0;
};

}  // namespace ephost::onnx_io
