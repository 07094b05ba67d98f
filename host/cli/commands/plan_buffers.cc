#include "host/cli/commands/plan_buffers.h"

#include <ephost/place_buffers.h>

#include <span>
#include <string>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/files/operation_files.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/report/plan/plan_map.h"

namespace ephost::cli {
namespace {

Json to_json(std::span<const BufferRequest> buffers, const BufferPlacement& placement,
             const BufferPlanRequest& request) {
  Json json = {{"buffers", buffers.size()},
               {"peak_bytes", placement.peak_bytes},
               {"lower_bound_bytes", placement.lower_bound_bytes},
               {"proved_optimal", placement.proved_optimal}};
  if (request.capacity) json.set("capacity_bytes", *request.capacity);
  Json offsets = Json::array();
  for (size_t i = 0; i < buffers.size(); ++i) {
    offsets.push_back({{"id", buffers[i].id}, {"offset", placement.offsets[i]}});
  }
  json.set("offsets", std::move(offsets));
  return json;
}

Status over_capacity(const BufferPlacement& placement, const BufferPlanRequest& request) {
  const uint64_t capacity = *request.capacity;
  std::string advice = formatted("the best one found needs {} bytes (lower bound {})",
                                 placement.peak_bytes, placement.lower_bound_bytes);
  if (placement.lower_bound_bytes > capacity) {
    advice = formatted("no placement can fit, as {} bytes are live at one time",
                       placement.lower_bound_bytes);
  } else if (placement.proved_bound_bytes > capacity) {
    advice = formatted("no placement can fit, as the search tried all; one of {} bytes is known",
                       placement.peak_bytes);
  }
  return Status(StatusCode::kFail,
                formatted("the buffers of {} do not fit into {} bytes: {}; raise --capacity",
                          quote(request.buffers.native()), capacity, advice));
}

std::string placement_summary(const BufferPlacement& placement, const BufferPlanRequest& request) {
  std::string text =
      formatted("{}: peak {} bytes, lower bound {}", counted(placement.offsets.size(), "buffer"),
                placement.peak_bytes, placement.lower_bound_bytes);
  if (request.capacity) text += formatted(", capacity {}", *request.capacity);
  return text + (placement.proved_optimal ? ", proved optimal\n" : ", not proved optimal\n");
}

}  // namespace

Status plan_buffers(const BufferPlanRequest& request) {
  OperationFiles files;
  EPHOST_RETURN_IF_ERROR(files.add_input(request.buffers, "the file of buffers"));
  for (const auto& file : {request.output, request.html}) {
    if (!file.empty()) EPHOST_RETURN_IF_ERROR(files.add_output(file, "the output file"));
  }
  EPHOST_ASSIGN_OR_RETURN(const std::string text, read_file(request.buffers));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<BufferRequest> buffers,
                          parse_buffer_requests(text, request.buffers.native()));
  EPHOST_ASSIGN_OR_RETURN(
      const BufferPlacement placement,
      place_buffers(buffers, {.alignment = request.alignment, .capacity = request.capacity}));
  if (request.capacity && placement.peak_bytes > *request.capacity) {
    return over_capacity(placement, request);
  }
  const std::string csv = to_csv(buffers, placement);
  if (!request.output.empty()) EPHOST_RETURN_IF_ERROR(write_text(request.output, csv));
  if (!request.html.empty()) {
    const MemoryMap map = map_of(request.buffers.filename().string(), buffers, placement);
    EPHOST_RETURN_IF_ERROR(write_text(request.html, to_html("Placement of buffers", {&map, 1})));
  }
  if (request.json) {
    print(to_text(to_json(buffers, placement, request)));
  } else if (request.output.empty()) {
    print(csv);
    if (!request.quiet) print_notice(placement_summary(placement, request));
  } else if (!request.quiet) {
    print(placement_summary(placement, request));
  }
  return Status::ok_status();
}

}  // namespace ephost::cli
