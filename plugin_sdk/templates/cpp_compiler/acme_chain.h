// acme_chain.h: chains, which are what this provider runs: a program of steps, and the computation
// that is made of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ephost/plugin.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace acme_plugin {

constexpr uint32_t kMaxRank = 8;
constexpr uint32_t kMaxSteps = 64;
constexpr uint32_t kMaxConstants = 16;

// The operation of a step. The first step loads its operand; each further one changes the result.
enum Operation : uint32_t { kLoad, kAdd, kMul, kRelu };
// An operand: this plus the index of a constant, kResult, or else the index of an input.
constexpr uint32_t kFirstConstant = 0x10000;
constexpr uint32_t kResult = UINT32_MAX;

struct Step {
  uint32_t operation;
  uint32_t operand;
};

// What a chain computes. It has a fixed size and no pointers, so that it can go into a context
// payload as it is. Constants are not part of it: the host keeps them.
struct Program {
  uint32_t rank;
  uint32_t input_count;
  uint32_t constant_count;
  uint32_t step_count;
  std::array<int64_t, kMaxRank> shape;  // of all values but constants; zero beyond the rank
  std::array<Step, kMaxSteps> steps;
};
static_assert(std::is_trivially_copyable_v<Program>);

// The number of elements of a shape. Nothing for a negative extent and for more than 2^48 elements:
// numbers from a graph or a file are never multiplied unchecked.
[[nodiscard]] std::optional<uint64_t> count_elements(const int64_t* shape, std::size_t rank);

// A constant of a partition. Its record lives no longer than the graph, but its elements live as
// long as the computation.
class Constant {
 public:
  Constant(std::string_view name, const eph_value& value)
      : name_(name),
        elements_(static_cast<const float*>(value.data)),
        byte_size_(value.byte_size),
        is_plain_(value.kind == EPH_KIND_TENSOR && value.element_type == EPH_ELEMENT_FLOAT &&
                  value.memory == 0) {}

  // In the graph of the partition.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const float* elements() const { return elements_; }
  // From one element to the next: 0 where one element counts for all.
  [[nodiscard]] uint64_t step() const { return byte_size_ == sizeof(float) ? 0 : 1; }
  [[nodiscard]] bool fits(uint64_t element_count) const {
    return is_plain_ && (step() == 0 || byte_size_ == element_count * sizeof(float));
  }

 private:
  std::string name_;
  const float* elements_;
  uint64_t byte_size_;
  bool is_plain_;
};

class Chain : public eph::Computation {
 public:
  // Throws Failure with `code` if something is wrong with the program or the constants.
  Chain(const Program& program, std::vector<Constant> constants, eph::ThreadPool pool,
        int32_t code);

  void compute(eph::Run& run, eph::State* state) override;
  // Elements are read before they are written, so that the output may take over the memory of each
  // input.
  void describe(eph_computation_info& info) override;

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] std::vector<eph_string> constant_names() const;

 private:
  void check_arguments(const eph::Run& run) const;
  // Runs all steps on `size` elements, from `begin` on.
  void run_block(const eph::Run& run, float* y, uint64_t begin, uint64_t size) const;

  Program program_;
  std::vector<Constant> constants_;
  std::vector<eph_slot_pair> pairs_;
  uint64_t element_count_ = 0;
  eph::ThreadPool pool_;
};

}  // namespace acme_plugin
