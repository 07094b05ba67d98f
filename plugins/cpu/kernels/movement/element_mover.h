// A mover of runs of neighbouring elements from an input to an output, of any element type, strings
// included: the common part of Gather, Compress, Unique and ReverseSequence.
#pragma once

#include <cstdint>
#include <cstring>
#include <ephost/sdk/computation.hpp>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/core/types.h"

namespace ephost_cpu {

class ElementMover {
 public:
  // Copies from input `input` to output 0, which has the input's type and is allocated.
  explicit ElementMover(eph::Run& run, uint32_t input = 0)
      : run_(run),
        input_(input),
        from_(run.input_data<char>(input)),
        to_(static_cast<char*>(run.output(0)->data)),
        strings_(run.input(input)->element_type == EPH_ELEMENT_STRING),
        size_(element_size(run.input(input)->element_type)) {}

  // Positions and `count` are in elements, and lie inside both tensors.
  void copy(int64_t to, int64_t from, int64_t count) {
    if (strings_) {
      const auto* texts = run_.input_data<eph_string>(input_);
      for (int64_t i = 0; i < count; ++i) {
        run_.set_string(0, static_cast<uint64_t>(to + i), eph::view(texts[from + i]));
      }
    } else if (size_ * count == 8) {  // a common case: single int64 of shape computations
      std::memcpy(to_ + to * size_, from_ + from * size_, 8);
    } else if (count > 0) {
      std::memcpy(to_ + to * size_, from_ + from * size_, static_cast<std::size_t>(size_ * count));
    }
  }

 private:
  eph::Run& run_;
  uint32_t input_;
  const char* from_;
  char* to_;
  bool strings_;
  int64_t size_;
};

}  // namespace ephost_cpu
