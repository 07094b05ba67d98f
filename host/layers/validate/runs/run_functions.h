// The functions of a guarded run that a computation calls. Values that it passes are the host's own
// again. Used inside host/layers/validate only.
#pragma once

#include <vector>

#include "host/layers/validate/runs/guarded_run.h"

namespace ephost::layers {

struct GuardedRun::Function {
  static int32_t allocate_output(eph_run* run, uint32_t index, int32_t type, const int64_t* shape,
                                 uint32_t rank, eph_error* error) noexcept {
    GuardedRun& own = of(run);
    if (!own.allows("allocate_output")) return EPH_INVALID_ARGUMENT;
    const HostCall calling;
    try {
      if (own.is_repetition_) return own.show_output(index, type, {shape, rank}, error);
      const int32_t code =
          own.inner_->api->allocate_output(own.inner_, index, type, shape, rank, error);
      if (code == EPH_OK && index < own.outputs_.size()) own.adopt_output(index);
      return code;
    } catch (...) {  // out of memory
      return EPH_OUT_OF_MEMORY;
    }
  }
  static int32_t set_string(eph_run* run, uint32_t index, uint64_t element, eph_string text,
                            eph_error* error) noexcept {
    GuardedRun& own = of(run);
    if (!own.allows("set_string")) return EPH_INVALID_ARGUMENT;
    const HostCall calling;
    return own.inner_->api->set_string(own.inner_, index, element, text, error);
  }
  static void* allocate_scratch(eph_run* run, uint64_t size) noexcept {
    GuardedRun& own = of(run);
    if (!own.allows("allocate_scratch")) return nullptr;
    try {
      own.scratch_.push_back(own.make_memory(size, "scratch memory"));
      return own.scratch_.back().data();
    } catch (...) {
      return nullptr;
    }
  }
  static int32_t is_cancelled(const eph_run* run) noexcept {
    const auto& own = *static_cast<const GuardedRun*>(run);
    if (!own.loan_.allows("eph_run", "is_cancelled", Callers::kAnyThread)) return 1;
    return own.inner_->api->is_cancelled(own.inner_);
  }
  static int32_t make_tensor(eph_run* run, int32_t type, const int64_t* shape, uint32_t rank,
                             eph_value** out_value, eph_error* error) noexcept {
    GuardedRun& own = of(run);
    if (!own.allows("make_tensor")) return EPH_INVALID_ARGUMENT;
    const HostCall calling;
    own.has_assembled_ = true;
    return own.inner_->api->make_tensor(own.inner_, type, shape, rank, out_value, error);
  }
  static int32_t set_element(eph_run* run, eph_value* tensor, uint64_t element, eph_string text,
                             eph_error* error) noexcept {
    GuardedRun& own = of(run);
    if (!own.allows("set_element")) return EPH_INVALID_ARGUMENT;
    const HostCall calling;
    return own.inner_->api->set_element(own.inner_, tensor, element, text, error);
  }
  static int32_t make_sequence(eph_run* run, const eph_value* base, uint64_t position,
                               uint64_t removed, const eph_value* const* inserted, uint64_t count,
                               const eph_value** out_value, eph_error* error) noexcept {
    GuardedRun& own = of(run);
    if (!own.allows("make_sequence")) return EPH_INVALID_ARGUMENT;
    const HostCall calling;
    own.has_assembled_ = true;
    try {
      std::vector<const eph_value*> originals;
      for (uint64_t i = 0; inserted != nullptr && i < count; ++i) {
        originals.push_back(own.original(inserted[i]));
      }
      return own.inner_->api->make_sequence(own.inner_, own.original(base), position, removed,
                                            inserted == nullptr ? nullptr : originals.data(), count,
                                            out_value, error);
    } catch (...) {
      return EPH_OUT_OF_MEMORY;
    }
  }
  static int32_t make_map(eph_run* run, const eph_value* keys, const eph_value* values,
                          const eph_value** out_value, eph_error* error) noexcept {
    GuardedRun& own = of(run);
    if (!own.allows("make_map")) return EPH_INVALID_ARGUMENT;
    const HostCall calling;
    own.has_assembled_ = true;
    return own.inner_->api->make_map(own.inner_, own.original(keys), own.original(values),
                                     out_value, error);
  }
  static int32_t set_output(eph_run* run, uint32_t index, const eph_value* value,
                            eph_error* error) noexcept {
    GuardedRun& own = of(run);
    if (!own.allows("set_output")) return EPH_INVALID_ARGUMENT;
    const HostCall calling;
    own.has_assembled_ = true;
    own.settle(index);
    if (own.is_repetition_) return EPH_OK;
    return own.inner_->api->set_output(own.inner_, index, own.original(value), error);
  }

  static int32_t allocate_in(eph_run* run, uint32_t memory, uint64_t size, void** out_data,
                             eph_error* error) noexcept {
    *out_data = nullptr;
    GuardedRun& own = of(run);
    if (!own.allows("allocate_in")) return EPH_INVALID_ARGUMENT;
    const HostCall calling;
    return own.inner_->api->allocate_in(own.inner_, memory, size, out_data, error);
  }

  static constexpr eph_run_api kApi = {sizeof(eph_run_api), &allocate_output, &set_string,
                                       &allocate_scratch,   &is_cancelled,    &make_tensor,
                                       &set_element,        &make_sequence,   &make_map,
                                       &set_output,         &allocate_in};
};

}  // namespace ephost::layers
