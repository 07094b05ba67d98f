// place_buffers: places buffers with known lifetimes in one block of memory, as the planner of a
// session does. Reads and writes such problems in the CSV form of the MiniMalloc benchmark.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/records/placement.h>
#include <ephost/status.h>
#include <ephost/types/placement.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {
namespace detail {

// Requests as the C API takes them; they view those that it was made of.
class BufferRequestRecords {
 public:
  explicit BufferRequestRecords(std::span<const BufferRequest> requests)
      : records_(requests.size()), pointers_(requests.size()) {
    for (size_t i = 0; i < requests.size(); ++i) {
      records_[i] = {.struct_size = sizeof(ephost_buffer_request),
                     .id = requests[i].id.c_str(),
                     .lower = requests[i].lower,
                     .upper = requests[i].upper,
                     .size = requests[i].size};
      pointers_[i] = &records_[i];
    }
  }
  [[nodiscard]] const ephost_buffer_request* const* data() const { return pointers_.data(); }
  [[nodiscard]] uint64_t size() const { return pointers_.size(); }

 private:
  SmallArray<ephost_buffer_request> records_;
  SmallArray<const ephost_buffer_request*> pointers_;
};

}  // namespace detail

inline namespace v1 {

// Deterministic; may search for seconds. May be called from any thread. INVALID_ARGUMENT for lower
// >= upper, an alignment that is not a power of two, or sizes that add up to more than 64 bits
// hold.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<BufferPlacement> place_buffers(
    std::span<const BufferRequest> requests, const BufferPlacementOptions& options = {}) {
  const detail::BufferRequestRecords records(requests);
  auto given = detail::sized<ephost_placement_options>();
  given.alignment = options.alignment;
  given.capacity = options.capacity.value_or(0);
  return detail::take_report<BufferPlacement>([&](const ephost_placement** placement) {
    return detail::api().placement->place(records.data(), records.size(), &given, placement);
  });
}

// From CSV with the columns id, lower, upper and size in any order. INVALID_ARGUMENT with `name`,
// line and column of the first mistake.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<std::vector<BufferRequest>> parse_buffer_requests(
    std::string_view csv, const std::string& name) {
  const ephost_buffer_list* list = nullptr;
  EPHOST_RETURN_IF_ERROR(detail::take_status(
      detail::api().placement->read_csv({csv.data(), csv.size()}, name.c_str(), &list)));
  const detail::Report<ephost_buffer_list> report(list);
  return detail::read_list<BufferRequest>(list->requests, list->request_count);
}

// CSV with the columns id, lower, upper, size and offset.
[[nodiscard]] inline std::string to_csv(std::span<const BufferRequest> requests,
                                        const BufferPlacement& placement) {
  const detail::BufferRequestRecords records(requests);
  char* csv = nullptr;
  detail::expect_success(detail::api().placement->write_csv(records.data(), records.size(),
                                                            placement.offsets.data(), &csv));
  std::string text(csv);
  detail::api().release_text(csv);
  return text;
}

}  // namespace v1
}  // namespace ephost
