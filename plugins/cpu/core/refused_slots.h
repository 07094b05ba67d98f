// Slots of a run that a kernel within another kernel never calls: each fails with one message.
#pragma once

#include <ephost/plugin.hpp>

namespace ephost_cpu {

// `kMessage` is the message, an array of static storage.
template <const char* kMessage>
struct RefusedSlots {
  static int32_t refuse(eph_error* error) noexcept {
    eph::detail::set_message(error, kMessage);
    return EPH_NOT_IMPLEMENTED;
  }
  static int32_t set_string(eph_run*, uint32_t, uint64_t, eph_string, eph_error* error) noexcept {
    return refuse(error);
  }
  static int32_t create_tensor(eph_run*, int32_t, const int64_t*, uint32_t, eph_value** out,
                               eph_error* error) noexcept {
    *out = nullptr;
    return refuse(error);
  }
  static int32_t set_element(eph_run*, eph_value*, uint64_t, eph_string,
                             eph_error* error) noexcept {
    return refuse(error);
  }
  static int32_t create_sequence(eph_run*, const eph_value*, uint64_t, uint64_t,
                                 const eph_value* const*, uint64_t, const eph_value** out,
                                 eph_error* error) noexcept {
    *out = nullptr;
    return refuse(error);
  }
  static int32_t create_map(eph_run*, const eph_value*, const eph_value*, const eph_value** out,
                            eph_error* error) noexcept {
    *out = nullptr;
    return refuse(error);
  }
  static int32_t set_output(eph_run*, uint32_t, const eph_value*, eph_error* error) noexcept {
    return refuse(error);
  }
};

}  // namespace ephost_cpu
