#include <span>
#include <string>
#include <vector>

#include "host/api/handles.h"
#include "host/api/report.h"
#include "host/api/tables.h"
#include "host/session/tools/place_buffers.h"

namespace ephost::api {
namespace {

Result<std::vector<BufferRequest>> to_requests(const ephost_buffer_request* const* requests,
                                               uint64_t count) {
  std::vector<BufferRequest> adopted;
  for (const ephost_buffer_request* request : std::span(requests, count)) {
    EPHOST_RETURN_IF_ERROR(check_record(request, "ephost_buffer_request"));
    const ephost_buffer_request given = adopt_record(request);
    adopted.push_back({text_of(given.id), given.lower, given.upper, given.size});
  }
  return adopted;
}

ephost_status* place(const ephost_buffer_request* const* requests, uint64_t request_count,
                     const ephost_placement_options* options,
                     const ephost_placement** out_placement) {
  *out_placement = nullptr;
  return guarded("placing buffers", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(options, "ephost_placement_options"));
    const ephost_placement_options given = adopt_record(options);
    BufferPlacementOptions adopted;
    if (given.alignment != 0) adopted.alignment = given.alignment;
    if (given.capacity != 0) adopted.capacity = given.capacity;
    EPHOST_ASSIGN_OR_RETURN(const auto buffers, to_requests(requests, request_count));
    EPHOST_ASSIGN_OR_RETURN(const BufferPlacement placed, session::place_buffers(buffers, adopted));
    *out_placement = new_report_of(placed);
    return {};
  });
}

ephost_status* read_csv(ephost_string csv, const char* name, const ephost_buffer_list** out_list) {
  *out_list = nullptr;
  return guarded("reading buffers", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const std::vector<BufferRequest> requests,
                            session::parse_buffer_requests({csv.data, csv.size}, text_of(name)));
    *out_list = new_report<ephost_buffer_list>([&](Arena& arena, ephost_buffer_list& list) {
      arena.list(requests, list.requests, list.request_count);
    });
    return {};
  });
}

ephost_status* write_csv(const ephost_buffer_request* const* requests, uint64_t request_count,
                         const uint64_t* offsets, char** out_csv) {
  *out_csv = nullptr;
  return guarded("writing buffers", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const auto buffers, to_requests(requests, request_count));
    BufferPlacement placement;
    placement.offsets.assign(offsets, offsets + request_count);
    return give_text(session::to_csv(buffers, placement), out_csv);
  });
}

}  // namespace

const ephost_placement_api kPlacementApi = {sizeof(ephost_placement_api), place, read_csv,
                                            write_csv};

}  // namespace ephost::api
