#include "host/cli/commands/plan_buffers.h"

#include <cstdio>

#include "host/base/files/file.h"
#include "host/base/files/operation_files.h"
#include "host/base/text.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/report/plan_map.h"
#include "host/plan/placement/minimalloc_csv.h"

namespace ephost::cli {
namespace {

Json to_json(const plan::BufferTable& table, const plan::Placement& placement,
             const BufferPlanRequest& request) {
  Json json = {{"buffers", table.buffers.size()},
               {"peak_bytes", placement.peak},
               {"lower_bound_bytes", placement.lower_bound},
               {"proved_optimal", placement.proved_optimal}};
  if (request.capacity) json.set("capacity_bytes", *request.capacity);
  Json offsets = Json::array();
  for (size_t i = 0; i < table.ids.size(); ++i) {
    offsets.push_back({{"id", table.ids[i]}, {"offset", placement.offsets[i]}});
  }
  json.set("offsets", std::move(offsets));
  return json;
}

Status over_capacity(const plan::Placement& placement, const BufferPlanRequest& request) {
  const uint64_t capacity = *request.capacity;
  std::string advice = "the best one found needs " + std::to_string(placement.peak) +
                       " bytes (lower bound " + std::to_string(placement.lower_bound) + ")";
  if (placement.lower_bound > capacity) {
    advice = "no placement can fit, as " + std::to_string(placement.lower_bound) +
             " bytes are alive at one time";
  } else if (placement.proved_bound > capacity) {
    advice = "no placement can fit, as the search tried all; one of " +
             std::to_string(placement.peak) + " bytes is known";
  }
  return Status(StatusCode::kFail, "the buffers of " + quote(request.buffers.native()) +
                                       " do not fit into " + std::to_string(capacity) +
                                       " bytes: " + advice + "; raise --capacity");
}

std::string summary(const plan::Placement& placement, const BufferPlanRequest& request) {
  std::string text = counted(placement.offsets.size(), "buffer") + ": peak " +
                     std::to_string(placement.peak) + " bytes, lower bound " +
                     std::to_string(placement.lower_bound);
  if (request.capacity) text += ", capacity " + std::to_string(*request.capacity);
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
  EPHOST_ASSIGN_OR_RETURN(const plan::BufferTable table,
                          plan::read_minimalloc_csv(text, request.buffers.native()));
  EPHOST_ASSIGN_OR_RETURN(
      const plan::Placement placement,
      plan::place_buffers(table.buffers, {.alignment = request.alignment,
                                          .capacity = request.capacity,
                                          .search_work = plan::kPatientSearchWork}));
  if (request.capacity && placement.peak > *request.capacity) {
    return over_capacity(placement, request);
  }
  const std::string csv = plan::write_minimalloc_csv(table, placement.offsets);
  if (!request.output.empty()) EPHOST_RETURN_IF_ERROR(write_text(request.output, csv));
  if (!request.html.empty()) {
    const MemoryMap map = map_of(request.buffers.filename().string(), table, placement);
    EPHOST_RETURN_IF_ERROR(write_text(request.html, to_html("Placement of buffers", {&map, 1})));
  }
  if (request.json) {
    print(to_text(to_json(table, placement, request)));
  } else if (request.output.empty()) {
    print(csv);
    print_notice(summary(placement, request));
  } else {
    print(summary(placement, request));
  }
  return Status::ok_status();
}

}  // namespace ephost::cli
