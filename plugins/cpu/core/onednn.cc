#include "plugins/cpu/core/onednn.h"

#include <algorithm>

namespace ephost_cpu {

dnnl::memory::dims to_onednn(const Dims& shape) { return {shape.begin(), shape.end()}; }

dnnl::memory::desc dense_desc(const Dims& shape) {
  return {to_onednn(shape), dnnl::memory::data_type::f32, to_onednn(dense_strides(shape))};
}

dnnl::primitive_attr scratchpad_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
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
               scratchpad.get_size()};
  return step;
}

BoundStep::BoundStep(const Step& step, const dnnl::engine& engine) : primitive_(step.primitive) {
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

void BoundStep::execute(const dnnl::stream& stream) {
  // The C function: the C++ one builds a map and a vector for each call.
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive_.get(), stream.get(), static_cast<int>(arguments_.size()), arguments_.data());
  dnnl::error::wrap_c_api(status, "oneDNN could not execute a primitive");
}

const void* PackedWeights::get(const dnnl::memory::desc& wanted, const OneDnn& onednn) {
  constexpr std::size_t kWorthReleasing = std::size_t{64} << 10;
  const dnnl::engine& engine = onednn.engine;
  if (wanted == desc_) return data_;
  const std::lock_guard lock(mutex_);
  for (const dnnl::memory& copy : copies_) {
    if (copy.get_desc() == wanted) return copy.get_data_handle();
  }
  const dnnl::memory copy(wanted, engine);
  const Step step = reorder_step(engine, desc_, wanted);
  std::vector<char> scratchpad(step.scratchpad_bytes + 64);
  BoundStep bound(step, engine);
  bound.bind(DNNL_ARG_FROM, data_);
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
