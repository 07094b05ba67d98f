#include "plugins/cpu/core/onednn.h"

#include <algorithm>
#include <string_view>

#include "plugins/cpu/core/parallel.h"
#include "plugins/onednn/dividing_convolutions.h"

namespace ephost_cpu {
namespace {

// Version 2 describes an operation first; version 3 makes its primitive descriptor in one step.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc describe_primitive(const dnnl::engine& engine,
                                                      const dnnl::primitive_attr& attributes,
                                                      const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, arguments..., attributes};
#else
  return {typename Primitive::desc(arguments...), attributes, engine};
#endif
}

dnnl::memory::dims desc_dims(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_dims();
#else
  return desc.dims();
#endif
}

// Whether the output is one column wide, of groups of one input channel, and with a stride along
// the width: with AVX-512, oneDNN 3.7 computes that wrongly.
bool is_one_column_of_one_channel(const ConvolutionTensors& tensors,
                                  const ConvolutionWindows& windows) {
  const std::size_t kernel = windows.strides.size();
  const dnnl::memory::dims weights = desc_dims(tensors.weights);
  return weights[weights.size() - kernel - 1] == 1 && desc_dims(tensors.y).back() == 1 &&
         windows.strides.back() > 1;
}

// Whether several products of a batch read the same B: with several threads, oneDNN 3.7 writes
// beyond its memory there.
bool repeats_b([[maybe_unused]] const dnnl::memory::desc& b,
               [[maybe_unused]] const dnnl::memory::desc& y) {
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::memory::dims of_b = desc_dims(b), of_y = desc_dims(y);
  for (std::size_t d = 0; d + 2 < of_y.size(); ++d) {
    if (of_b[d] == 1 && of_y[d] != 1) return true;
  }
#endif
  return false;
}

// Goes on to the first implementation without this in its name.
template <class Description>
void pass_over(Description& description, std::string_view name) {
  while (std::string_view(description.impl_info_str()).find(name) != std::string_view::npos) {
    if (!description.next_impl()) {
      throw dnnl::error(dnnl_unimplemented, "oneDNN has no implementation that is right");
    }
  }
}

}  // namespace

std::string_view instruction_set() {
  using Isa = dnnl::cpu_isa;
  switch (dnnl::get_effective_cpu_isa()) {
    case Isa::sse41:
      return "x86-64-sse41";
    case Isa::avx:
      return "x86-64-avx";
    case Isa::avx2:
    case Isa::avx2_vnni:
#if DNNL_VERSION_MAJOR >= 3
    case Isa::avx2_vnni_2:
#endif
      return "x86-64-avx2";
    case Isa::avx512_core:
    case Isa::avx512_core_vnni:
    case Isa::avx512_core_bf16:
    case Isa::avx512_core_amx:
#if DNNL_VERSION_MAJOR >= 3
    case Isa::avx512_core_fp16:
    case Isa::avx512_core_amx_fp16:
#endif
      return "x86-64-avx512";
    default:
      return "x86-64";
  }
}

bool multiplies_bytes_exactly() {
  using Isa = dnnl::cpu_isa;
  switch (dnnl::get_effective_cpu_isa()) {
    case Isa::avx512_core_vnni:
    case Isa::avx512_core_bf16:
    case Isa::avx512_core_amx:
#if DNNL_VERSION_MAJOR >= 3
    case Isa::avx512_core_fp16:
    case Isa::avx512_core_amx_fp16:
#endif
      return true;
    default:
      return false;
  }
}

bool sums_depend_on_place(std::string_view implementation) {
  return implementation.find("gemm:jit") != std::string_view::npos &&
         instruction_set() == "x86-64-avx2";
}

dnnl::memory::dims to_onednn(const Dims& shape) { return {shape.begin(), shape.end()}; }

dnnl::memory::desc dense_desc(const Dims& shape) {
  return {to_onednn(shape), dnnl::memory::data_type::f32, to_onednn(dense_strides(shape))};
}

dnnl::memory::desc with_any_layout(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return {desc.get_dims(), desc.get_data_type(), dnnl::memory::format_tag::any};
#else
  return {desc.dims(), desc.data_type(), dnnl::memory::format_tag::any};
#endif
}

dnnl::primitive_attr scratchpad_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void scale_result(float factor, [[maybe_unused]] dnnl::primitive_attr& attributes,
                  [[maybe_unused]] dnnl::post_ops& post_ops) {
#if DNNL_VERSION_MAJOR >= 3
  post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0);
#else
  attributes.set_output_scales(0, {factor});
#endif
}

dnnl::matmul::primitive_desc describe_matmul(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const dnnl::memory::desc& a,
    const dnnl::memory::desc& b, const dnnl::memory::desc* bias, const dnnl::memory::desc& y) {
  auto description = bias == nullptr
                         ? describe_primitive<dnnl::matmul>(engine, attributes, a, b, y)
                         : describe_primitive<dnnl::matmul>(engine, attributes, a, b, *bias, y);
  if (repeats_b(b, y)) pass_over(description, "brg_matmul");
  return description;
}

dnnl::convolution_forward::primitive_desc describe_convolution(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
    const ConvolutionTensors& tensors, const ConvolutionWindows& windows) {
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  auto [x, weights, y, bias] = tensors;
  if (ephost_onednn::divides_by_zero(x, weights)) {
    x = ephost_onednn::in_channel_blocks(x);
    y = ephost_onednn::in_channel_blocks(y);
  }
  const auto& [strides, gaps, begin, end] = windows;
  auto description =
      bias == nullptr
          ? describe_primitive<dnnl::convolution_forward>(engine, attributes, kKind, kAlgorithm, x,
                                                          weights, y, strides, gaps, begin, end)
          : describe_primitive<dnnl::convolution_forward>(engine, attributes, kKind, kAlgorithm, x,
                                                          weights, *bias, y, strides, gaps, begin,
                                                          end);
  if (is_one_column_of_one_channel(tensors, windows)) pass_over(description, "brg_conv_fwd");
  return description;
}

const dnnl::memory::desc& Step::layout(int argument) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const auto& known) { return known.first == argument; });
  return found->second;
}

Step reorder_step(const dnnl::engine& engine, const dnnl::memory::desc& from,
                  const dnnl::memory::desc& to) {
  const dnnl::reorder::primitive_desc description(engine, from, engine, to,
                                                  scratchpad_attributes());
  const dnnl::memory::desc scratchpad = description.scratchpad_desc();
  Step step = {dnnl::reorder(description),
               {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, scratchpad}},
               scratchpad.get_size(),
               ephost_onednn::SafeReorder::plan(from, to)};
  return step;
}

BoundStep::BoundStep(const Step& step, const dnnl::engine& engine)
    : primitive_(step.primitive), safe_(step.safe) {
  for (const auto& [argument, desc] : step.arguments) {
    memories_.emplace_back(desc, engine, nullptr);
    arguments_.push_back({argument, memories_.back().get()});
  }
}

void BoundStep::bind(int argument, const void* data) {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    // oneDNN doesn't write to what it takes as an input.
    if (arguments_[i].arg == argument) memories_[i].set_data_handle(const_cast<void*>(data));
  }
}

void* BoundStep::data(int argument) const {
  const auto found =
      std::find_if(arguments_.begin(), arguments_.end(),
                   [&](const dnnl_exec_arg_t& known) { return known.arg == argument; });
  return memories_[static_cast<std::size_t>(found - arguments_.begin())].get_data_handle();
}

void BoundStep::execute(const dnnl::stream& stream) {
  if (safe_ && !safe_->needs_library()) {
    return safe_->run(data(DNNL_ARG_FROM), data(DNNL_ARG_TO));
  }
  const OneDnnUse use;
  // The C function: the C++ one builds a map and a vector for each call.
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive_.get(), stream.get(), static_cast<int>(arguments_.size()), arguments_.data());
  dnnl::error::wrap_c_api(status, "oneDNN could not execute a primitive");
  if (!safe_) return;
  dnnl::stream(stream).wait();
  safe_->run(data(DNNL_ARG_FROM), data(DNNL_ARG_TO));
}

const void* PackedWeights::get(const dnnl::memory::desc& wanted, const OneDnn& onednn) {
  constexpr std::size_t kWorthReleasing = std::size_t{64} << 10;
  const dnnl::engine& engine = onednn.engine;
  if (wanted == desc_ && !source_) return data_;
  const std::lock_guard lock(mutex_);
  for (const dnnl::memory& copy : copies_) {
    if (copy.get_desc() == wanted) return copy.get_data_handle();
  }
  const std::vector<char> made = source_ ? source_() : std::vector<char>();
  const dnnl::memory copy(wanted, engine);
  const Step step = reorder_step(engine, desc_, wanted);
  std::vector<char> scratchpad(step.scratchpad_bytes + 64);
  BoundStep bound(step, engine);
  bound.bind(DNNL_ARG_FROM, source_ ? made.data() : data_);
  bound.bind(DNNL_ARG_TO, copy.get_data_handle());
  bound.bind(DNNL_ARG_SCRATCHPAD, scratchpad.data());
  dnnl::stream stream(engine);
  bound.execute(stream);
  stream.wait();
  copies_.push_back(copy);
  if (onednn.release_constants && desc_.get_size() >= kWorthReleasing) {
    onednn.release_constants(data_, desc_.get_size());
  }
  return copies_.back().get_data_handle();
}

}  // namespace ephost_cpu
