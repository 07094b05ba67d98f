// The end of what a plugin has begun or made in a call that the layer "validate" fails. Used inside
// host/layers/validate only.
#pragma once

#include "host/layers/validate/validator.h"

namespace ephost::layers {
namespace undoing {

inline constexpr eph_error_api kErrors = {sizeof(eph_error_api),
                                          [](eph_error*, eph_string) noexcept {}};
inline constexpr eph_event_list_api kEvents = {
    sizeof(eph_event_list_api),
    [](eph_event_list*, const eph_event*, eph_error*) noexcept -> int32_t { return EPH_OK; }};

inline void end_run(ProviderObject<Validator>& provider, uint64_t run_id) {
  const auto& runs = provider.inner_table<eph_run_provider_api>();
  provider.state().order.drop_run(run_id);
  eph_error ignored = {&kErrors};
  if (runs.end_run == nullptr) return;
  (void)may_throw(runs.end_run)(provider.inner(), run_id, EPH_EP_FAIL, &ignored);
}

inline void stop_profiling(ProviderObject<Validator>& provider) {
  provider.state().order.drop_profiling();
  eph_error ignored = {&kErrors};
  eph_event_list ignored_events = {&kEvents};
  const auto& profiling = provider.inner_table<eph_profiling_api>();
  (void)may_throw(profiling.stop)(provider.inner(), &ignored_events, &ignored);
}

inline void destroy_kernel(ProviderObject<Validator>& provider, eph_computation*& made) {
  eph_computation* const kernel = std::exchange(made, nullptr);
  provider.state().made.clear();
  const auto table = plugin::adopt_computation(kernel->api, {});
  if (table.ok()) may_throw(table->destroy)(kernel);
}

inline void release_state(ComputationObject<Validator>& computation, void*& made) {
  void* const state = std::exchange(made, nullptr);
  (void)computation.state().order.remove_state(state);
  may_throw(computation.inner_table().release_state)(computation.inner(), state);
}

inline void release_block(DeviceObject<Validator>& device, uint32_t memory, void*& made) {
  void* const block = std::exchange(made, nullptr);
  (void)device.state().order.remove_block(memory, block);
  may_throw(device.table().devices().release)(device.inner(), memory, block);
}

inline void destroy_stream(DeviceObject<Validator>& device, eph_stream*& made) {
  eph_stream* const stream = std::exchange(made, nullptr);
  (void)device.state().order.remove_stream(stream);
  may_throw(device.table().devices().destroy_stream)(device.inner(), stream);
}

inline void close_device(const ProviderTable<Validator>& table, eph_device_handle*& made) {
  may_throw(table.devices().close)(std::exchange(made, nullptr));
}

}  // namespace undoing

// The host destroys itself what a failed `create` or `compile` leaves to it.
template <auto Member, class... A>
void Validator::undo(const Call<Validator>& call, A... arguments) {
  [[maybe_unused]] const auto passed = std::tuple(arguments...);
  if constexpr (kIsSame<Member, &eph_run_provider_api::begin_run>) {
    undoing::end_run(*call.provider, std::get<0>(passed)->run_id);
  } else if constexpr (kIsSame<Member, &eph_profiling_api::start>) {
    undoing::stop_profiling(*call.provider);
  } else if constexpr (kIsSame<Member, &eph_provider_api::create_kernel>) {
    eph_computation*& made = *std::get<2>(passed);
    if (made != nullptr) undoing::destroy_kernel(*call.provider, made);
  } else if constexpr (kIsSame<Member, &eph_computation_api::create_state>) {
    void*& made = *std::get<0>(passed);
    if (made != nullptr) undoing::release_state(*call.computation, made);
  } else if constexpr (kIsSame<Member, &eph_device_api::allocate>) {
    void*& made = *std::get<2>(passed);
    if (made != nullptr) undoing::release_block(*call.device, std::get<0>(passed), made);
  } else if constexpr (kIsSame<Member, &eph_device_api::create_stream>) {
    eph_stream*& made = *std::get<1>(passed);
    if (made == nullptr) return;
    call.table.layer().streams_.remove(made);
    undoing::destroy_stream(*call.device, made);
  } else if constexpr (kIsSame<Member, &eph_device_api::open>) {
    eph_device_handle*& made = *std::get<2>(passed);
    if (made != nullptr) undoing::close_device(call.table, made);
  }
}

}  // namespace ephost::layers
