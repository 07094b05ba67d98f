// The common part of the kernels on oneDNN: the engine, primitives with their arguments bound,
// caches of what was made for a shape, and constant weights in the layouts that primitives need.
//
// It also has what differs between oneDNN's versions 2 and 3: no other file of this provider
// depends on the version.
//
// oneDNN's scratch memory is always passed in: with its global one, a primitive cannot run in
// several threads at once.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/cpu/core/dims.h"
#include "plugins/onednn/safe_reorder.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#include <dnnl.hpp>
#pragma GCC diagnostic pop

namespace ephost_cpu {

using Desc = dnnl::memory::desc;
using DataType = dnnl::memory::data_type;

struct OneDnn {
  dnnl::engine engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
  // Tells the host that constants are unlikely to be read again; empty if the host does not ask for
  // that.
  std::function<void(const void* data, uint64_t size)> release_constants;
};

// The kind of processor by the instructions that oneDNN uses, e.g. "x86-64-avx2".
[[nodiscard]] std::string_view instruction_set();

// Whether all of oneDNN's products of uint8 and int8 are exact, as they are with AVX-512's VNNI
// instructions: without such, it adds pairs of products in 16 bits, which saturate.
[[nodiscard]] bool multiplies_bytes_exactly();

// Whether a primitive for float with this name (impl_info_str) adds up the terms of a sum in an
// order that depends on where the result lies, so that equal columns give unequal numbers. With
// AVX2, oneDNN's general matrix product does, and so do the convolutions that are built on it.
[[nodiscard]] bool sums_depend_on_place(std::string_view implementation);

// Row-major float32.
[[nodiscard]] dnnl::memory::desc dense_desc(const Dims& shape);
// The same dimensions and type in a layout that oneDNN chooses.
[[nodiscard]] dnnl::memory::desc with_any_layout(const dnnl::memory::desc& desc);
[[nodiscard]] dnnl::memory::dims to_onednn(const Dims& shape);

// Attributes that let the caller provide scratch memory.
[[nodiscard]] dnnl::primitive_attr scratchpad_attributes();

// Multiplies a result with `factor` before all post-ops: to be called first, with the post-ops that
// the attributes will get.
void scale_result(float factor, dnnl::primitive_attr& attributes, dnnl::post_ops& post_ops);

// `bias` may be null. Throws dnnl::error if oneDNN has no primitive for it.
[[nodiscard]] dnnl::matmul::primitive_desc describe_matmul(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const dnnl::memory::desc& a,
    const dnnl::memory::desc& b, const dnnl::memory::desc* bias, const dnnl::memory::desc& y);

struct ConvolutionTensors {
  dnnl::memory::desc x, weights, y;
  const dnnl::memory::desc* bias = nullptr;
};
struct ConvolutionWindows {
  dnnl::memory::dims strides, gaps, pads_begin, pads_end;
};
// Throws dnnl::error if oneDNN has no primitive for it.
[[nodiscard]] dnnl::convolution_forward::primitive_desc describe_convolution(
    const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
    const ConvolutionTensors& tensors, const ConvolutionWindows& windows);

// A primitive and the layout of each of its arguments (DNNL_ARG_*). Immutable once made; shared by
// threads.
struct Step {
  dnnl::primitive primitive;
  std::vector<std::pair<int, dnnl::memory::desc>> arguments;
  uint64_t scratchpad_bytes = 0;  // to be bound as DNNL_ARG_SCRATCHPAD if not 0
  // A reorder that the library is not trusted with.
  std::optional<ephost_onednn::SafeReorder> safe = std::nullopt;

  [[nodiscard]] const dnnl::memory::desc& layout(int argument) const;
};

[[nodiscard]] Step reorder_step(const dnnl::engine& engine, const dnnl::memory::desc& from,
                                const dnnl::memory::desc& to);

// A step with the memory objects of one thread of execution.
class BoundStep {
 public:
  BoundStep(const Step& step, const dnnl::engine& engine);

  // An argument that the step doesn't have is ignored.
  void bind(int argument, const void* data);
  void execute(const dnnl::stream& stream);

 private:
  [[nodiscard]] void* data(int argument) const;

  dnnl::primitive primitive_;
  std::optional<ephost_onednn::SafeReorder> safe_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

// Bytes rounded up so that what follows is aligned to 64.
[[nodiscard]] constexpr uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// A constant weights tensor. Makes and keeps a copy for each layout that is requested.
class PackedWeights {
 public:
  // Makes the elements, in the layout of `desc`, each time that they are packed.
  using Source = std::function<std::vector<char>()>;

  // `data` is borrowed. With a source, that is packed instead of what `data` holds.
  PackedWeights(const void* data, const dnnl::memory::desc& desc, Source source = nullptr)
      : data_(data), desc_(desc), source_(std::move(source)) {}

  // The weights in that layout; valid while this object lives. May be called from any thread.
  const void* get(const dnnl::memory::desc& wanted, const OneDnn& onednn);

 private:
  const void* data_;
  dnnl::memory::desc desc_;
  Source source_;
  std::mutex mutex_;
  std::vector<dnnl::memory> copies_;
};

// The few most recent plans by key. May be used from any thread.
template <class Key, class Plan>
class PlanCache {
 public:
  static constexpr std::size_t kCapacity = 16;

  template <class Make>
  std::shared_ptr<const Plan> find_or_make(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, plan] : plans_) {
      if (known == key) return plan;
    }
    if (plans_.size() == kCapacity) plans_.erase(plans_.begin());
    return plans_.emplace_back(key, make()).second;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Key, std::shared_ptr<const Plan>>> plans_;
};

}  // namespace ephost_cpu
