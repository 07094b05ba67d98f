#include "plugins/cpu/kernels/quantized/byte_convolution.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/cpu/core/onednn.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/quantized/byte_convolution_output.h"
#include "plugins/cpu/kernels/quantized/bytes.h"
#include "plugins/cpu/kernels/quantized/quantization.h"
#include "plugins/onednn/dividing_convolutions.h"

namespace ephost_cpu {

struct ByteKey {
  ConvolutionShape shape;
  bool with_sums;
  friend bool operator==(const ByteKey&, const ByteKey&) = default;
};

struct BytePlan {
  bool is_fast = false;  // otherwise there is nothing else
  std::optional<Step> pack_weights;
  Step convolve;
  const void* packed_weights = nullptr;  // those of constant weights
  uint64_t weights_bytes = 0, scratchpad_bytes = 0;
};

namespace {

ByteChannels channels_of(const ConvolutionShape& shape, bool with_sums) {
  return {shape.groups, shape.weights[0] / shape.groups, with_sums};
}

Dims padded_input(const ConvolutionShape& shape) {
  Dims padded = shape.x;
  for (std::size_t d = 2; d < padded.size(); ++d) {
    const int64_t pads = checked_add(shape.window.pads_begin[d - 2], shape.window.pads_end[d - 2]);
    padded[d] = checked_add(padded[d], pads);
  }
  return padded;
}

// [N, C, ...] with the channels last.
Desc channels_last(const Dims& shape, DataType type) {
  Dims strides = shape;
  int64_t stride = shape[1];
  for (std::size_t d = shape.size() - 1; d >= 2; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  strides[1] = 1;
  strides[0] = stride;
  return {to_onednn(shape), type, to_onednn(strides)};
}

Desc weights_desc(const ConvolutionShape& shape, const ByteChannels& channels) {
  Dims extents = shape.weights;
  extents[0] = channels.stored_of_group();
  if (shape.groups != 1) extents.insert(0, shape.groups);
  return {to_onednn(extents), DataType::s8, to_onednn(dense_strides(extents))};
}

// Whether sums of windows are made even if nothing needs them: with their channel, the convolution
// is none that oneDNN cannot make.
bool adds_sums(const ConvolutionShape& shape) {
  return ephost_onednn::divides_by_zero(channels_last(padded_input(shape), DataType::u8),
                                        weights_desc(shape, channels_of(shape, false)));
}

dnnl::convolution_forward::primitive_desc describe_byte_convolution(const dnnl::engine& engine,
                                                                    const ByteKey& key) {
  const ConvolutionShape& shape = key.shape;
  const ByteChannels channels = channels_of(shape, key.with_sums);
  Dims y = {shape.x[0], channels.stored()};
  for (const int64_t extent : shape.window.output) y.push_back(extent);
  Dims gaps = shape.window.dilations;
  for (int64_t& gap : gaps) --gap;
  const dnnl::memory::dims no_pads(gaps.size(), 0);
  return describe_convolution(
      engine, scratchpad_attributes(),
      {channels_last(padded_input(shape), DataType::u8),
       with_any_layout(weights_desc(shape, channels)), channels_last(y, DataType::s32), nullptr},
      {to_onednn(shape.window.strides), to_onednn(gaps), no_pads, no_pads});
}

// Whether the padded input is larger than the input, but not by much.
bool can_pad(const ConvolutionShape& shape) {
  constexpr int64_t kSmall = int64_t{1} << 20;
  const auto is_negative = [](int64_t pad) { return pad < 0; };
  const Dims& begin = shape.window.pads_begin;
  const Dims& end = shape.window.pads_end;
  if (std::any_of(begin.begin(), begin.end(), is_negative)) return false;
  if (std::any_of(end.begin(), end.end(), is_negative)) return false;
  const int64_t padded = element_count(padded_input(shape));
  return padded <= kSmall || padded / 4 <= element_count(shape.x);
}

// Weights as int8, with those that make sums of windows.
void extend_weights(const uint8_t* from, bool flips, const ByteChannels& channels, int64_t length,
                    char* to) {
  for (int64_t g = 0; g < channels.groups; ++g) {
    const int64_t count = channels.of_group * length;
    if (flips) {
      flip_signs(from + g * count, to, count);
    } else {
      std::copy_n(from + g * count, count, to);
    }
    to += count;
    if (channels.with_sums) to = std::fill_n(to, length, char{1});
  }
}

bool needs_sums(const QuantizedOperand& weights) {
  for (int64_t i = 0; i < weights.zero_point_count(); ++i) {
    if (zero_of_weights(weights, i) != 0) return true;
  }
  return false;
}

struct BoundByteConvolution {
  ByteKey key;
  std::shared_ptr<const BytePlan> plan;
  std::optional<BoundStep> pack_weights, convolve;
};

struct ByteState : eph::State {
  explicit ByteState(const dnnl::engine& engine) : stream(engine) {}
  dnnl::stream stream;
  std::vector<BoundByteConvolution> bound;
};

// Weights that are not constant, in the layout of the step.
const void* pack_weights(eph::Run& run, ByteState& state, BoundByteConvolution& bound,
                         const ByteChannels& channels, const QuantizedOperand& weights,
                         void* scratchpad) {
  const Dims shape = dims_of(*weights.value);
  const int64_t length = element_count(shape, 1, shape.size());
  auto* dense = take_scratch<char>(run, checked_multiply(channels.stored(), length));
  extend_weights(data<const uint8_t>(*weights.value), !weights.is_signed(), channels, length,
                 dense);
  if (!bound.pack_weights) return dense;
  void* packed = take_scratch<char>(run, static_cast<int64_t>(bound.plan->weights_bytes));
  bound.pack_weights->bind(DNNL_ARG_FROM, dense);
  bound.pack_weights->bind(DNNL_ARG_TO, packed);
  bound.pack_weights->bind(DNNL_ARG_SCRATCHPAD, scratchpad);
  bound.pack_weights->execute(state.stream);
  return packed;
}

// ---- Input --------------------------------------------------------------------------------------

// Three spatial dimensions, the first ones of extent 1 if there are fewer.
struct Volume {
  std::array<int64_t, 3> input = {1, 1, 1}, begin = {}, padded = {1, 1, 1};
};

Volume volume_of(const ConvolutionShape& shape) {
  const std::size_t rank = shape.x.size() - 2;
  Volume volume;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t at = 3 - rank + d;
    volume.input[at] = shape.x[d + 2];
    volume.begin[at] = shape.window.pads_begin[d];
    volume.padded[at] = shape.x[d + 2] + shape.window.pads_begin[d] + shape.window.pads_end[d];
  }
  if (volume.input == volume.padded) {  // one row
    const int64_t all = element_count(shape.x, 2, shape.x.size());
    volume.input = volume.padded = {1, 1, all};
  }
  return volume;
}

// Moves the channels of X behind its pixels and pads it.
void pack_input(const ConvolutionShape& shape, const QuantizedOperand& x, uint8_t* to) {
  constexpr int64_t kPiece = 256;  // pixels
  const uint8_t flip = x.is_signed() ? kSignBit : 0;
  const auto padding = static_cast<uint8_t>(static_cast<uint8_t>(x.zero_point(0)) ^ flip);
  const Volume volume = volume_of(shape);
  const auto& [depth, height, width] = volume.input;
  const int64_t channels = shape.x[1];
  const int64_t plane = depth * height * width;
  const int64_t padded_plane = volume.padded[0] * volume.padded[1] * volume.padded[2];
  if (plane != padded_plane) std::fill_n(to, shape.x[0] * channels * padded_plane, padding);
  const int64_t pieces = (width - 1) / kPiece + 1;
  const auto* from = data<const uint8_t>(*x.value);
  const double cost = 0.15 * static_cast<double>(channels * std::min(width, kPiece));
  const int64_t rows = shape.x[0] * depth * height;
  const int64_t row_length = width;
  const int64_t rows_of_slice = height;
  const int64_t rows_of_image = depth * height;
  parallel_for(rows * pieces, cost, [=, &volume](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / pieces;
      const int64_t first = i % pieces * kPiece;
      const int64_t image = row / rows_of_image;
      const int64_t d = row % rows_of_image / rows_of_slice + volume.begin[0];
      const int64_t h = row % rows_of_slice + volume.begin[1];
      const int64_t pixel =
          ((image * volume.padded[0] + d) * volume.padded[1] + h) * volume.padded[2] +
          volume.begin[2] + first;
      transpose_bytes(from + image * channels * plane + row % rows_of_image * row_length + first,
                      plane, channels, std::min(kPiece, row_length - first), to + pixel * channels,
                      channels, flip);
    }
  });
}

}  // namespace

class ByteConvolutions::Plans {
 public:
  Plans(std::shared_ptr<const OneDnn> onednn, const std::optional<QuantizedOperand>& constant)
      : onednn_(std::move(onednn)) {
    if (!constant) return;
    constant_ = {data<const uint8_t>(*constant->value), !constant->is_signed(),
                 needs_sums(*constant)};
    const Dims shape = dims_of(*constant->value);
    weight_sums_.resize(static_cast<std::size_t>(shape[0]));
    sum_weights(*constant, shape[0], element_count(shape, 1, shape.size()), weight_sums_.data());
  }

  [[nodiscard]] const dnnl::engine& engine() const { return onednn_->engine; }
  // What sum_weights gives for constant weights; null for others.
  [[nodiscard]] const uint32_t* weight_sums() const {
    return has_constant() ? weight_sums_.data() : nullptr;
  }
  [[nodiscard]] bool has_constant() const { return constant_.bytes != nullptr; }
  // Whether constant weights need sums of windows.
  [[nodiscard]] bool constant_needs_sums() const { return constant_.needs_sums; }

  std::shared_ptr<const BytePlan> find(const ByteKey& key) {
    return cache_.find_or_make(key, [&] { return make(key); });
  }

  BoundByteConvolution& find_bound(ByteState& state, const ByteKey& key) {
    const auto found = std::find_if(state.bound.begin(), state.bound.end(),
                                    [&](const BoundByteConvolution& b) { return b.key == key; });
    if (found != state.bound.end()) return *found;
    if (state.bound.size() == decltype(cache_)::kCapacity) state.bound.erase(state.bound.begin());
    BoundByteConvolution bound = {key, find(key), {}, {}};
    if (bound.plan->is_fast) bound.convolve.emplace(bound.plan->convolve, engine());
    if (bound.plan->pack_weights) bound.pack_weights.emplace(*bound.plan->pack_weights, engine());
    return state.bound.emplace_back(std::move(bound));
  }

 private:
  // Called under the cache's lock.
  std::shared_ptr<const BytePlan> make(const ByteKey& key) {
    auto plan = std::make_shared<BytePlan>();
    if (!can_pad(key.shape)) return plan;
    try {
      const auto description = describe_byte_convolution(engine(), key);
      if (std::string_view(description.impl_info_str()).find("ref") == std::string_view::npos) {
        fill(*plan, key, description);
      }
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
    }
    return plan;
  }

  void fill(BytePlan& plan, const ByteKey& key,
            const dnnl::convolution_forward::primitive_desc& description) {
    const ByteChannels channels = channels_of(key.shape, key.with_sums);
    const Desc dense = weights_desc(key.shape, channels);
    const Desc scratchpad = description.scratchpad_desc();
    plan.convolve = {dnnl::convolution_forward(description),
                     {{DNNL_ARG_SRC, description.src_desc()},
                      {DNNL_ARG_WEIGHTS, description.weights_desc()},
                      {DNNL_ARG_DST, description.dst_desc()},
                      {DNNL_ARG_SCRATCHPAD, scratchpad}},
                     scratchpad.get_size()};
    plan.scratchpad_bytes = plan.convolve.scratchpad_bytes;
    plan.weights_bytes = description.weights_desc().get_size();
    if (has_constant()) {
      if (packed_ == nullptr) packed_ = make_packed(dense, key);
      plan.packed_weights = packed_->get(description.weights_desc(), *onednn_);
    } else if (dense != description.weights_desc()) {
      plan.pack_weights = reorder_step(engine(), dense, description.weights_desc());
      if (plan.pack_weights->safe) {  // whether it works shows only when it is too late
        plan.pack_weights.reset();
        throw dnnl::error(dnnl_unimplemented, "oneDNN's reorder is not trusted");
      }
      plan.scratchpad_bytes = std::max(plan.scratchpad_bytes, plan.pack_weights->scratchpad_bytes);
    }
    plan.is_fast = true;
  }

  // The weights stay as they are in the file; what oneDNN packs is made when it packs.
  [[nodiscard]] std::unique_ptr<PackedWeights> make_packed(const Desc& dense,
                                                           const ByteKey& key) const {
    const uint8_t* bytes = constant_.bytes;
    const bool flips = constant_.flips;
    PackedWeights::Source source;
    if (flips || key.with_sums) {
      const ByteChannels channels = channels_of(key.shape, key.with_sums);
      const int64_t length = element_count(key.shape.weights, 1, key.shape.weights.size());
      source = [=] {
        std::vector<char> made(static_cast<std::size_t>(channels.stored() * length));
        extend_weights(bytes, flips, channels, length, made.data());
        return made;
      };
    }
    return std::make_unique<PackedWeights>(bytes, dense, std::move(source));
  }

  // The part of constant weights that is needed after the kernel was made: their elements stay, the
  // records that describe them do not.
  struct Constant {
    const uint8_t* bytes = nullptr;
    bool flips = false, needs_sums = false;
  };

  std::shared_ptr<const OneDnn> onednn_;
  Constant constant_;
  std::vector<uint32_t> weight_sums_;
  std::unique_ptr<PackedWeights> packed_;
  PlanCache<ByteKey, BytePlan> cache_;
};

ByteConvolutions::ByteConvolutions(std::shared_ptr<const OneDnn> onednn,
                                   const std::optional<QuantizedOperand>& constant)
    : plans_(std::make_unique<Plans>(std::move(onednn), constant)) {}
ByteConvolutions::~ByteConvolutions() = default;

std::unique_ptr<eph::State> ByteConvolutions::create_state() const {
  return std::make_unique<ByteState>(plans_->engine());
}

bool ByteConvolutions::prepare(const ConvolutionShape& shape) {
  const bool with_sums = plans_->constant_needs_sums() || adds_sums(shape);
  return plans_->has_constant() && plans_->find({shape, with_sums})->is_fast;
}

bool ByteConvolutions::convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                                const QuantizedOperand& x, const QuantizedOperand& weights,
                                const Requantization* requantization, int32_t element_type,
                                void* y) {
  auto& own = *static_cast<ByteState*>(state);
  const bool with_sums = needs_sums(weights) || adds_sums(shape);
  BoundByteConvolution& bound = plans_->find_bound(own, {shape, with_sums});
  const BytePlan& plan = *bound.plan;
  if (!plan.is_fast) return false;
  const ByteChannels channels = channels_of(shape, with_sums);
  auto* scratchpad = take_scratch<char>(run, static_cast<int64_t>(plan.scratchpad_bytes));

  const void* packed_weights = plan.packed_weights;
  if (packed_weights == nullptr) {
    packed_weights = pack_weights(run, own, bound, channels, weights, scratchpad);
  }
  auto* packed_x = take_scratch<uint8_t>(run, element_count(padded_input(shape)));
  pack_input(shape, x, packed_x);
  const int64_t plane = element_count(shape.window.output);
  const int64_t sums_count =
      checked_multiply(checked_multiply(shape.x[0], plane), channels.stored());
  auto* sums = take_scratch<int32_t>(run, checked_add(sums_count, ByteSums::kSpare));
  std::fill_n(sums + sums_count, ByteSums::kSpare, 0);
  bound.convolve->bind(DNNL_ARG_SRC, packed_x);
  bound.convolve->bind(DNNL_ARG_WEIGHTS, packed_weights);
  bound.convolve->bind(DNNL_ARG_DST, sums);
  bound.convolve->bind(DNNL_ARG_SCRATCHPAD, scratchpad);
  bound.convolve->execute(own.stream);

  store_output(run, {channels, shape.x[0], plane, sums}, x, weights, plans_->weight_sums(),
               requantization, element_type, y);
  return true;
}

}  // namespace ephost_cpu
