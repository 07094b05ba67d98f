#include "host/cli/plan_buffers.h"

#include <nlohmann/json.hpp>

#include "host/base/file.h"
#include "host/base/text.h"
#include "host/cli/output.h"
#include "host/cli/plan_map.h"
#include "host/plan/minimalloc_csv.h"

namespace ephost::cli {
namespace {

Json to_json(const plan::BufferTable& table, const plan::Placement& placement,
             const BufferPlanRequest& request) {
  Json json = {{"buffers", table.buffers.size()},
               {"peak_bytes", placement.peak},
               {"lower_bound_bytes", placement.lower_bound},
               {"proved_optimal", placement.proved_optimal}};
  if (request.capacity) json["capacity_bytes"] = *request.capacity;
  Json offsets = Json::array();
  for (size_t i = 0; i < table.ids.size(); ++i) {
    offsets.push_back({{"id", table.ids[i]}, {"offset", placement.offsets[i]}});
  }
  json["offsets"] = std::move(offsets);
  return json;
}

Status over_capacity(const plan::Placement& placement, const BufferPlanRequest& request) {
  const std::string capacity = std::to_string(*request.capacity);
  const bool impossible = placement.lower_bound > *request.capacity;
  const std::string advice =
      impossible
          ? "no placement can fit, as " + std::to_string(placement.lower_bound) +
                " bytes are alive at one time; raise --capacity"
          : "the best one found needs " + std::to_string(placement.peak) + " bytes (lower bound " +
                std::to_string(placement.lower_bound) + "); raise --capacity";
  return Status(StatusCode::kFail, "the buffers of " + quote(request.buffers.native()) +
                                       " do not fit into " + capacity + " bytes: " + advice);
}

}  // namespace

Status plan_buffers(const BufferPlanRequest& request) {
  EPHOST_ASSIGN_OR_RETURN(const std::string text, read_file(request.buffers));
  EPHOST_ASSIGN_OR_RETURN(const plan::BufferTable table,
                          plan::read_minimalloc_csv(text, request.buffers.native()));
  EPHOST_ASSIGN_OR_RETURN(const plan::Placement placement,
                          plan::place_buffers(table.buffers, request.alignment));
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
  } else {
    print(counted(table.buffers.size(), "buffer") + " in " + std::to_string(placement.peak) +
          " bytes, lower bound " + std::to_string(placement.lower_bound) + "\n");
  }
  return Status::ok_status();
}

}  // namespace ephost::cli
