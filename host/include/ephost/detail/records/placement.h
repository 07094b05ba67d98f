// Fields of records and of the plain values that they become: the placement of buffers.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/placement.h>

namespace ephost::detail {

template <>
struct RecordOf<BufferRequest> {
  using C = ephost_buffer_request;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&BufferRequest::id, &C::id);
    visit(&BufferRequest::lower, &C::lower);
    visit(&BufferRequest::upper, &C::upper);
    visit(&BufferRequest::size, &C::size);
  }
};

template <>
struct RecordOf<BufferPlacement> {
  using C = ephost_placement;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&BufferPlacement::offsets, &C::offsets, &C::offset_count);
    visit(&BufferPlacement::peak_bytes, &C::peak_bytes);
    visit(&BufferPlacement::lower_bound_bytes, &C::lower_bound_bytes);
    visit(&BufferPlacement::proved_bound_bytes, &C::proved_bound_bytes);
    visit(&BufferPlacement::proved_optimal, &C::proved_optimal);
  }
};

}  // namespace ephost::detail
