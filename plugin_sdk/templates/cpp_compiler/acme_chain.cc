// acme_chain.cc: runs chains on the threads of the host. Replace the loops by what your device
// does.
#include "acme_chain.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace acme_plugin {
namespace {

constexpr uint64_t kBlock = 1024;         // elements that all steps run on at a time
constexpr uint64_t kGrain = 16 * kBlock;  // the fewest elements for a thread

bool operand_exists(const Program& program, uint32_t operand, bool is_first) {
  if (operand == kResult) return !is_first;
  if (operand >= kFirstConstant) return operand - kFirstConstant < program.constant_count;
  return operand < program.input_count;
}

// Whether a program accesses only operands and elements that exist, wherever it came from.
bool is_valid(const Program& program) {
  if (program.rank > kMaxRank || program.input_count > kMaxSteps) return false;
  if (program.constant_count > kMaxConstants) return false;
  if (!count_elements(program.shape.data(), program.rank)) return false;
  if (program.step_count < 1 || program.step_count > kMaxSteps) return false;
  for (uint32_t s = 0; s < program.step_count; ++s) {
    const Step& step = program.steps[s];
    if (step.operation > kRelu || (step.operation == kLoad) != (s == 0)) return false;
    if (!operand_exists(program, step.operand, s == 0)) return false;
  }
  return true;
}

float apply(uint32_t operation, float result, float operand) {
  switch (operation) {
    case kLoad:
      return operand;
    case kAdd:
      return result + operand;
    case kMul:
      return result * operand;
    default:
      return result < 0 ? 0 : result;  // written so that NaN stays NaN
  }
}

}  // namespace

std::optional<uint64_t> count_elements(const int64_t* shape, std::size_t rank) {
  constexpr uint64_t kMost = uint64_t{1} << 48;
  uint64_t count = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    if (shape[d] < 0) return {};
    if (shape[d] != 0 && count > kMost / static_cast<uint64_t>(shape[d])) return {};
    count *= static_cast<uint64_t>(shape[d]);
  }
  return count;
}

Chain::Chain(const Program& program, std::vector<Constant> constants, eph::ThreadPool pool,
             int32_t code)
    : program_(program), constants_(std::move(constants)), pool_(pool) {
  if (!is_valid(program) || constants_.size() != program.constant_count) {
    throw eph::Failure(code, "the program of a chain is invalid; compile the model again");
  }
  element_count_ = *count_elements(program.shape.data(), program.rank);
  for (const Constant& constant : constants_) {
    if (constant.fits(element_count_)) continue;
    throw eph::Failure(code, "the constant '" + constant.name() +
                                 "' does not fit its chain; compile the model again");
  }
  for (uint32_t i = 0; i < program.input_count; ++i) pairs_.push_back({i, 0});
}

void Chain::compute(eph::Run& run, eph::State*) {
  check_arguments(run);
  if (run.output(0) == nullptr) return;  // the result is not read
  float* const y =
      run.allocate_data<float>(0, eph::ArrayView<int64_t>(program_.shape.data(), program_.rank));
  std::atomic<bool> is_cancelled = run.is_cancelled();
  pool_.parallel_for(element_count_, kGrain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t from = begin; from < end && !is_cancelled; from += kBlock) {
      if (run.is_cancelled()) is_cancelled = true;
      run_block(run, y + from, from, std::min(end - from, kBlock));
    }
  });
  if (is_cancelled) throw eph::Failure(EPH_CANCELLED, "the run was cancelled");
}

void Chain::describe(eph_computation_info& info) {
  info.may_inplace = pairs_.data();
  info.may_inplace_count = pairs_.size();
}

std::vector<eph_string> Chain::constant_names() const {
  std::vector<eph_string> names;
  for (const Constant& constant : constants_) names.push_back(eph::to_abi(constant.name()));
  return names;
}

void Chain::check_arguments(const eph::Run& run) const {
  bool is_right = run.input_count() == program_.input_count && run.output_count() == 1;
  for (uint32_t i = 0; is_right && i < run.input_count(); ++i) {
    const eph_value* const input = run.input(i);
    is_right = input != nullptr && input->byte_size == element_count_ * sizeof(float);
  }
  if (is_right) return;
  throw eph::Failure(EPH_INVALID_ARGUMENT, "a chain was run with other inputs or outputs");
}

void Chain::run_block(const eph::Run& run, float* y, uint64_t begin, uint64_t size) const {
  std::array<float, kBlock> result = {};
  for (uint32_t s = 0; s < program_.step_count; ++s) {
    const auto [operation, operand] = program_.steps[s];
    const float* x = result.data();
    uint64_t step = 1;
    if (operand != kResult && operand >= kFirstConstant) {
      const Constant& constant = constants_[operand - kFirstConstant];
      step = constant.step();
      x = constant.elements() + begin * step;
    } else if (operand != kResult) {
      x = run.input_data<float>(operand) + begin;
    }
    for (uint64_t i = 0; i < size; ++i) result[i] = apply(operation, result[i], x[i * step]);
  }
  std::memcpy(y, result.data(), static_cast<std::size_t>(size) * sizeof(float));
}

}  // namespace acme_plugin
