// computation.hpp: the base class of kernels and compiled partitions, and the arguments of one call
// of `compute`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <memory>
#include <new>
#include <string_view>

namespace eph {

// The arguments of one compute call.
class Run {
 public:
  explicit Run(eph_run* run) : run_(run) {}

  [[nodiscard]] uint32_t input_count() const { return run_->input_count; }
  [[nodiscard]] uint32_t output_count() const { return run_->output_count; }
  // Null for an omitted optional input.
  [[nodiscard]] const eph_value* input(uint32_t i) const {
    return i < run_->input_count ? run_->inputs[i] : nullptr;
  }
  // Null for an output that is not read.
  [[nodiscard]] eph_value* output(uint32_t i) const {
    return i < run_->output_count ? run_->outputs[i] : nullptr;
  }
  // The data of a required input.
  template <class T>
  [[nodiscard]] const T* input_data(uint32_t i) const {
    return static_cast<const T*>(run_->inputs[i]->data);
  }

  // Output i with that shape, and with memory; the output must not be omitted. Costs nothing if the
  // host has prepared it. The element type may be left out if the model declares it.
  eph_value& allocate(uint32_t i, ArrayView<int64_t> shape,
                      int32_t element_type = EPH_ELEMENT_UNDEFINED) {
    eph_value& value = *run_->outputs[i];
    const bool prepared = value.data != nullptr && value.rank == shape.size() &&
                          std::equal(shape.begin(), shape.end(), value.shape);
    if (!prepared) {
      detail::ThrowingError error;
      error.check(run_->api->allocate_output(run_, i, element_type, shape.data(),
                                             static_cast<uint32_t>(shape.size()), &error));
    }
    return value;
  }
  template <class T>
  T* allocate_data(uint32_t i, ArrayView<int64_t> shape) {
    return static_cast<T*>(allocate(i, shape, element_type_of<T>()).data);
  }
  void set_string(uint32_t i, uint64_t element, std::string_view text) {
    detail::ThrowingError error;
    error.check(run_->api->set_string(run_, i, element, to_abi(text), &error));
  }

  // Values for outputs other than tensors: see eph_run_api. They live until compute returns.
  eph_value& make_tensor(ArrayView<int64_t> shape, int32_t element_type) {
    eph_value* made = nullptr;
    detail::ThrowingError error;
    error.check(run_->api->make_tensor(run_, element_type, shape.data(),
                                       static_cast<uint32_t>(shape.size()), &made, &error));
    return *made;
  }
  void set_element(eph_value& tensor, uint64_t element, std::string_view text) {
    detail::ThrowingError error;
    error.check(run_->api->set_element(run_, &tensor, element, to_abi(text), &error));
  }
  const eph_value& make_sequence(ArrayView<const eph_value*> elements) {
    return splice(nullptr, 0, 0, elements);
  }
  // `base` with some of its elements replaced; `base` must not be read afterwards.
  const eph_value& splice(const eph_value* base, uint64_t position, uint64_t removed,
                          ArrayView<const eph_value*> inserted) {
    const eph_value* made = nullptr;
    detail::ThrowingError error;
    error.check(run_->api->make_sequence(run_, base, position, removed, inserted.data(),
                                         inserted.size(), &made, &error));
    return *made;
  }
  const eph_value& make_map(const eph_value& keys, const eph_value& values) {
    const eph_value* made = nullptr;
    detail::ThrowingError error;
    error.check(run_->api->make_map(run_, &keys, &values, &made, &error));
    return *made;
  }
  // Null: an empty optional.
  void set_output(uint32_t i, const eph_value* value) {
    detail::ThrowingError error;
    error.check(run_->api->set_output(run_, i, value, &error));
  }

  [[nodiscard]] void* workspace() const { return run_->workspace; }
  // Memory that lives until compute returns, aligned to 64.
  [[nodiscard]] void* scratch(uint64_t bytes) {
    void* memory = run_->api->allocate_scratch(run_, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  // Memory on a device, until the work that this call enqueues is done. Throws Failure.
  [[nodiscard]] void* scratch_in(uint32_t memory, uint64_t bytes) {
    void* data = nullptr;
    detail::ThrowingError error;
    error.check(run_->api->allocate_in(run_, memory, bytes, &data, &error));
    return data;
  }
  [[nodiscard]] bool is_cancelled() const { return run_->api->is_cancelled(run_) != 0; }
  // The id of the session's run, as in Provider::begin_run; 0 under a host that does not give it.
  [[nodiscard]] uint64_t id() const {
    const uint64_t end = offsetof(eph_run, run_id) + sizeof(eph_run::run_id);
    return run_->struct_size >= end ? run_->run_id : 0;
  }
  // The stream on which a computation that states EPH_COMPUTATION_ENQUEUES enqueues its work. Null:
  // all is done when compute returns.
  [[nodiscard]] eph_stream* stream() const {
    const uint64_t end = offsetof(eph_run, stream) + sizeof(eph_run::stream);
    return run_->struct_size >= end ? run_->stream : nullptr;
  }
  // What names the work in failures of the stream.
  [[nodiscard]] uint64_t step() const {
    const uint64_t end = offsetof(eph_run, step) + sizeof(eph_run::step);
    return run_->struct_size >= end ? run_->step : UINT64_MAX;
  }
  // See eph_run; 0 says nothing.
  [[nodiscard]] uint64_t placement() const {
    const uint64_t end = offsetof(eph_run, placement) + sizeof(eph_run::placement);
    return run_->struct_size >= end ? run_->placement : 0;
  }

 private:
  eph_run* run_;
};

// What each concurrent run needs for itself.
class State {
 public:
  virtual ~State() = default;
};

// A kernel or a compiled partition.
class Computation : public eph_computation {
 public:
  Computation() : eph_computation{&kDirectApi<&Computation::do_compute>} {}
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;
  virtual ~Computation() = default;

  virtual void compute(Run& run, State* state) = 0;

  // See eph_computation_info. By default a computation needs nothing, and its values lie in host
  // memory.
  virtual void describe(eph_computation_info&) {}
  virtual std::unique_ptr<State> create_state() { return nullptr; }

 protected:
  using Direct = int32_t (*)(eph_computation* handle, void* state, eph_run* run,
                             eph_error* error) noexcept;

  // For constructors: makes the host call `kDirect` in place of `compute`, with nothing in between.
  // For work that takes nanoseconds and was prepared when the computation was made; `kDirect`
  // passes on to do_compute what it is not prepared for.
  template <Direct kDirect>
  void compute_directly() {
    api = &kDirectApi<kDirect>;
  }

  // Calls `compute` and turns an exception into a code and a message.
  static int32_t do_compute(eph_computation* handle, void* state, eph_run* run,
                            eph_error* error) noexcept {
    return detail::guard(error, [&] {
      Run wrapped(run);
      self(handle)->compute(wrapped, static_cast<State*>(state));
    });
  }

 private:
  static Computation* self(eph_computation* handle) { return static_cast<Computation*>(handle); }
  static void do_destroy(eph_computation* handle) noexcept {
    if (handle != nullptr) delete self(handle);
  }
  static int32_t do_describe(eph_computation* handle, eph_computation_info* out,
                             eph_error* error) noexcept {
    return detail::guard(error, [&] {
      detail::fill_record(out, [&](eph_computation_info& info) { self(handle)->describe(info); });
    });
  }
  static int32_t do_create_state(eph_computation* handle, void** out_state,
                                 eph_error* error) noexcept {
    *out_state = nullptr;
    return detail::guard(error, [&] { *out_state = self(handle)->create_state().release(); });
  }
  static void do_release_state(eph_computation*, void* state) noexcept {
    delete static_cast<State*>(state);
  }

  template <Direct kDirect>
  static constexpr eph_computation_api kDirectApi = {
      sizeof(eph_computation_api), &Computation::do_destroy,      kDirect,
      &Computation::do_describe,   &Computation::do_create_state, &Computation::do_release_state};
};

}  // namespace eph
