#include "host/context/loader.h"

#include <utility>

#include "host/context/examination.h"

namespace ephost::context {

Result<LoadedContext> load_context(const graph::Model& model, const LoadOptions& options) {
  Examination examined = examine_context(model, options);
  EPHOST_RETURN_IF_ERROR(first_failure(examined));
  LoadedContext loaded{.compatibility = std::move(examined.metadata.compatibility)};
  loaded.payloads.reserve(examined.payloads.size());
  for (ExaminedPayload& payload : examined.payloads) {
    loaded.payloads.push_back(std::move(payload.payload));
  }
  loaded.partitions.reserve(examined.nodes.size());
  for (ExaminedNode& node : examined.nodes) {
    loaded.partitions.push_back(
        {.place = node.place, .attributes = std::move(node.attributes), .payload = node.payload});
  }
  return loaded;
}

}  // namespace ephost::context
