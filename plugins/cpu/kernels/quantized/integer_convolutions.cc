#include <algorithm>
#include <optional>

#include "plugins/cpu/core/onednn.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/quantized/exact_floats.h"
#include "plugins/cpu/kernels/quantized/integer_arithmetic.h"
#include "plugins/cpu/kernels/quantized/quantization.h"

namespace ephost_cpu {
namespace {

// Constant weights whose number of zero points fits; otherwise `convolve` refuses them.
std::optional<QuantizedOperand> usable_constant(const NodeContext& context, std::size_t weights,
                                                std::size_t zero_points) {
  std::optional<QuantizedOperand> operand = constant_operand(context, weights, zero_points);
  if (!operand || operand->value->rank < 3) return std::nullopt;
  const int64_t zeros = operand->zero_point_count();
  if (zeros != 1 && zeros != operand->value->shape[0]) return std::nullopt;
  return operand;
}

}  // namespace

struct IntegerConvolutions::Constant {
  int64_t length = 0;  // channels in a chunk
  std::vector<std::vector<float>> chunks;
  std::vector<std::unique_ptr<Convolutions>> convolutions;
};

struct IntegerConvolutions::States : eph::State {
  std::unique_ptr<eph::State> of_bytes, usual;
  std::vector<std::unique_ptr<eph::State>> of_chunks;
};

std::unique_ptr<IntegerConvolutions::Constant> IntegerConvolutions::make_constant(
    const NodeContext& context, const QuantizedOperand& operand) {
  const Dims shape = dims_of(*operand.value);
  const int64_t taps = element_count(shape, 2, shape.size());
  const int64_t terms = exact_terms(kMaxReach, operand.reach());
  if (taps > terms) return nullptr;  // `run` refuses it
  auto made = std::make_unique<Constant>();
  made->length = std::min(shape[1], terms / taps);
  for (int64_t first = 0; first < shape[1]; first += made->length) {
    const int64_t part = std::min(made->length, shape[1] - first);
    auto& chunk = made->chunks.emplace_back(static_cast<std::size_t>(shape[0] * part * taps));
    pack_rows(operand, {first * taps, shape[0], part * taps, shape[1] * taps}, 0, chunk.data());
    made->convolutions.push_back(
        std::make_unique<Convolutions>(context.settings().onednn, chunk.data()));
  }
  return made;
}

IntegerConvolutions::IntegerConvolutions(const NodeContext& context, std::size_t weights,
                                         std::size_t weights_zero_points)
    : convolutions_(context.settings().onednn, nullptr) {
  const std::optional<QuantizedOperand> constant =
      usable_constant(context, weights, weights_zero_points);
  if (multiplies_bytes_exactly()) {
    bytes_ = std::make_unique<ByteConvolutions>(context.settings().onednn, constant);
  } else if (constant) {
    constant_ = make_constant(context, *constant);
  }
}
IntegerConvolutions::~IntegerConvolutions() = default;

void IntegerConvolutions::prepare(const ConvolutionShape& shape) {
  if (bytes_ != nullptr) bytes_->prepare(shape);
}

std::unique_ptr<eph::State> IntegerConvolutions::create_state() const {
  auto states = std::make_unique<States>();
  states->usual = convolutions_.create_state();
  if (bytes_ != nullptr) states->of_bytes = bytes_->create_state();
  if (constant_ != nullptr) {
    for (const auto& convolutions : constant_->convolutions) {
      states->of_chunks.push_back(convolutions->create_state());
    }
  }
  return states;
}

void IntegerConvolutions::convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                                   const QuantizedOperand& x, const QuantizedOperand& weights,
                                   int32_t* y) {
  auto& states = *static_cast<States*>(state);
  check_zero_points(x, 1, 1);
  check_zero_points(weights, shape.weights[0], shape.weights[0]);
  if (bytes_ != nullptr && bytes_->convolve(run, states.of_bytes.get(), shape, x, weights, nullptr,
                                            EPH_ELEMENT_INT32, y)) {
    return;
  }
  convolve_floats(run, states, shape, x, weights, y);
}

void IntegerConvolutions::convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                                   const QuantizedOperand& x, const QuantizedOperand& weights,
                                   const Requantization& requantization, int32_t element_type,
                                   void* y) {
  auto& states = *static_cast<States*>(state);
  check_zero_points(x, 1, 1);
  check_zero_points(weights, shape.weights[0], shape.weights[0]);
  if (bytes_ != nullptr && bytes_->convolve(run, states.of_bytes.get(), shape, x, weights,
                                            &requantization, element_type, y)) {
    return;
  }
  const int64_t outputs = shape.weights[0];
  const int64_t plane = element_count(shape.window.output);
  const int64_t planes = shape.x[0] * outputs;
  auto* sums = take_scratch<int32_t>(run, checked_multiply(planes, plane));
  convolve_floats(run, states, shape, x, weights, sums);
  dispatch<int8_t, uint8_t>(element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(planes, static_cast<double>(plane), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t m = p % outputs;
        const float factor = requantization.factors[m];
        const uint32_t addend =
            requantization.bias != nullptr ? static_cast<uint32_t>(requantization.bias[m]) : 0;
        const auto value = [=, from = sums + p * plane](int64_t i) {
          const uint32_t sum = static_cast<uint32_t>(from[i]) + addend;
          return static_cast<float>(static_cast<int32_t>(sum)) * factor;
        };
        round_values(value, requantization.zero_point, static_cast<T*>(y) + p * plane, plane);
      }
    });
  });
}

void IntegerConvolutions::convolve_floats(eph::Run& run, States& states,
                                          const ConvolutionShape& shape, const QuantizedOperand& x,
                                          const QuantizedOperand& weights, int32_t* y) {
  const int64_t channels = shape.weights[1];  // in one group
  const int64_t outputs = shape.weights[0];
  const int64_t taps = element_count(shape.window.kernel);
  const int64_t plane = element_count(shape.x, 2, shape.x.size());
  const int64_t x_planes = checked_multiply(shape.x[0], shape.groups);
  const bool is_constant = constant_ != nullptr;
  const int64_t terms = exact_terms(x.reach(), weights.reach());
  if (taps > terms) {
    fail_unsupported("a window of " + std::to_string(taps) + " elements is too large");
  }
  const int64_t length = is_constant ? constant_->length : std::min(channels, terms / taps);
  const int64_t sums_count = shape.x[0] * outputs * element_count(shape.window.output);
  float* x_part = take_scratch<float>(run, checked_multiply(x_planes * length, plane));
  float* weights_part = is_constant ? nullptr : take_scratch<float>(run, outputs * length * taps);
  float* sums = take_scratch<float>(run, sums_count);
  for (int64_t first = 0; first < channels; first += length) {
    const int64_t part = std::min(length, channels - first);
    pack_rows(x, {first * plane, x_planes, part * plane, channels * plane}, 0, x_part);
    ConvolutionShape chunk = shape;
    chunk.x[1] = shape.groups * part;
    chunk.weights[1] = part;
    chunk.has_bias = false;
    chunk.is_exact = true;
    if (is_constant) {
      const auto i = static_cast<std::size_t>(first / length);
      constant_->convolutions[i]->convolve(run, states.of_chunks[i].get(), chunk, x_part, nullptr,
                                           nullptr, sums, 0);
    } else {
      pack_rows(weights, {first * taps, outputs, part * taps, channels * taps}, 0, weights_part);
      convolutions_.convolve(run, states.usual.get(), chunk, x_part, weights_part, nullptr, sums,
                             0);
    }
    add_chunk(sums, first == 0, y, sums_count);
  }
}

}  // namespace ephost_cpu
