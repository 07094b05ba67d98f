// A node that must be refused, with the expected code and message. The cases are in
// *_refusals_test.cc, by family of operators; refusal_test.cc runs them.
#pragma once

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test {

struct Refusal {
  std::string name;
  std::string op_type;
  int32_t version;
  std::vector<Tensor> inputs;
  Attributes attributes;
  std::string message;
  int32_t code = EPH_INVALID_ARGUMENT;
  std::size_t outputs = 1;
};

inline void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.name; }

class Refusals : public ::testing::TestWithParam<Refusal> {};

inline const Tensor kX = floats({2, 3}, {1, 2, 3, 4, 5, 6});
inline const Tensor kImage = floats({1, 4, 2, 2}, std::vector<float>(16, 1));
inline const Tensor kScalar = floats({}, {1});
inline const Tensor kFive = floats({5}, {1, 1, 1, 1, 1});
using Ints = std::vector<int64_t>;

inline Tensor of_rank(std::size_t rank) { return floats(Shape(rank, 1), {1}); }

}  // namespace ephost::test
