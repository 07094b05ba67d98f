#include "host/session/tools/place_buffers.h"

#include "host/plan/placement/minimalloc_csv.h"
#include "host/session/environment/exception_barrier.h"

namespace ephost::session {
namespace {

plan::BufferTable table_of(std::span<const BufferRequest> requests) {
  plan::BufferTable table;
  for (const BufferRequest& request : requests) {
    table.ids.push_back(request.id);
    table.buffers.push_back({request.lower, request.upper, request.size});
  }
  return table;
}

}  // namespace

Result<BufferPlacement> place_buffers(std::span<const BufferRequest> requests,
                                      const BufferPlacementOptions& options) {
  return without_exceptions("placing buffers", [&]() -> Result<BufferPlacement> {
    EPHOST_ASSIGN_OR_RETURN(
        plan::Placement placed,
        plan::place_buffers(table_of(requests).buffers, {.alignment = options.alignment,
                                                         .capacity = options.capacity,
                                                         .search_work = plan::kPatientSearchWork}));
    return BufferPlacement{.offsets = std::move(placed.offsets),
                           .peak_bytes = placed.peak,
                           .lower_bound_bytes = placed.lower_bound,
                           .proved_bound_bytes = placed.proved_bound,
                           .proved_optimal = placed.proved_optimal};
  });
}

Result<std::vector<BufferRequest>> parse_buffer_requests(std::string_view csv,
                                                         std::string_view name) {
  using Requests = Result<std::vector<BufferRequest>>;
  return without_exceptions("reading buffers", [&]() -> Requests {
    EPHOST_ASSIGN_OR_RETURN(const plan::BufferTable table, plan::read_minimalloc_csv(csv, name));
    std::vector<BufferRequest> requests;
    for (size_t i = 0; i < table.ids.size(); ++i) {
      const plan::Buffer& buffer = table.buffers[i];
      requests.push_back({table.ids[i], buffer.lower, buffer.upper, buffer.size});
    }
    return requests;
  });
}

std::string to_csv(std::span<const BufferRequest> requests, const BufferPlacement& placement) {
  return plan::write_minimalloc_csv(table_of(requests), placement.offsets);
}

}  // namespace ephost::session
