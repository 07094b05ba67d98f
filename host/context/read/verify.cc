#include "host/context/read/verify.h"

#include "host/base/text.h"
#include "host/context/read/examination.h"
#include "host/graph/body_path.h"

namespace ephost::context {
namespace {

std::string describe(const NodePlace& place, const graph::Model& model) {
  std::string text = graph::describe_node(*place.graph, place.node);
  if (place.graph == &model.graph) return text;
  return text + " in body " + quote(graph::path_of(*place.graph, model.graph));
}

VerifiedNode verified_node(const ExaminedNode& node, const Examination& examined,
                           const graph::Model& model) {
  const EpContextNode& attributes = node.attributes;
  VerifiedNode verified{.description = describe(node.place, model),
                        .partition_name = attributes.partition_name,
                        .source = attributes.source,
                        .main_context = attributes.main_context,
                        .embedded = attributes.embedded,
                        .sdk_version = attributes.sdk_version,
                        .hardware_architecture = attributes.hardware_architecture};
  const auto stated = examined.metadata.compatibility.find(attributes.source);
  if (stated != examined.metadata.compatibility.end()) verified.compatibility = stated->second;
  if (node.payload == kNoPayload) return verified;

  const ExaminedPayload& payload = examined.payloads[node.payload];
  if (const std::string& own = payload.payload.compatibility; !own.empty()) {
    verified.compatibility = own;
  }
  verified.file = payload.payload.file_name;
  verified.checksum = payload.checksum;
  if (payload.checksum != ChecksumState::kMissingFile &&
      payload.checksum != ChecksumState::kRefusedPath) {
    verified.payload_bytes = payload.payload.bytes.bytes.size();
  }
  if (!attributes.main_context) {
    verified.primary = examined.nodes[payload.primary].attributes.partition_name;
  }
  return verified;
}

}  // namespace

std::string_view checksum_state_name(ChecksumState state) {
  switch (state) {
    case ChecksumState::kOk:
      return "ok";
    case ChecksumState::kMismatch:
      return "mismatch";
    case ChecksumState::kNotStated:
      return "not stated";
    case ChecksumState::kMissingFile:
      return "missing file";
    case ChecksumState::kRefusedPath:
      return "refused path";
    case ChecksumState::kUnknown:
      break;
  }
  return "unknown";
}

VerifyReport verify_context_model(const graph::Model& model, const LoadOptions& options) {
  const Examination examined = examine_context(model, options);
  VerifyReport report;
  const auto note = [&](const Status& status) {
    if (!status.ok()) report.problems.push_back(status.message());
  };
  note(examined.metadata_status);
  for (const ExaminedNode& node : examined.nodes) {
    report.nodes.push_back(verified_node(node, examined, model));
    note(node.status);
  }
  for (const Status& status : examined.initializers) note(status);
  report.specializations = examined.metadata.specializations;
  report.unchecked = examined.unchecked;
  report.needs_checksums = options.require_checksums.value_or(examined.is_of_this_host);
  return report;
}

}  // namespace ephost::context
