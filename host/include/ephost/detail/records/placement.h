// Fields of records and of the plain values that they become: the placement of buffers.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/placement.h>

namespace ephost::detail {

template <>
struct RecordOf<BufferRequest> {
  using C = ephost_buffer_request;
  static constexpr auto kFields =
      std::tuple(field(&BufferRequest::id, &C::id), field(&BufferRequest::lower, &C::lower),
                 field(&BufferRequest::upper, &C::upper), field(&BufferRequest::size, &C::size));
};

template <>
struct RecordOf<BufferPlacement> {
  using C = ephost_placement;
  static constexpr auto kFields =
      std::tuple(field(&BufferPlacement::offsets, &C::offsets, &C::offset_count),
                 field(&BufferPlacement::peak_bytes, &C::peak_bytes),
                 field(&BufferPlacement::lower_bound_bytes, &C::lower_bound_bytes),
                 field(&BufferPlacement::proved_bound_bytes, &C::proved_bound_bytes),
                 field(&BufferPlacement::proved_optimal, &C::proved_optimal));
};

}  // namespace ephost::detail
