#include "host/context/read/examination.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/context/read/constant_check.h"
#include "host/context/read/primaries.h"

namespace ephost::context {

namespace fs = std::filesystem;

namespace {

const ContentChecksum* look_up(const std::map<std::string, ContentChecksum>& checksums,
                               const std::string& name) {
  const auto entry = checksums.find(name);
  return entry == checksums.end() ? nullptr : &entry->second;
}

class Examiner {
 public:
  Examiner(const graph::Model& model, const LoadOptions& options)
      : model_(model),
        options_(options),
        files_(options_, options_.folder),
        constants_(options_, files_) {}

  Examination run() && {
    read_stated_entries();
    const std::vector<NodePlace> places = find_ep_context_nodes(model_.graph);
    if (may_defer_checksums(places)) files_.defer_checksums();
    for (const NodePlace& place : places) read_node(place);
    for (ExaminedNode& node : result_.nodes) find_primary(node);
    for (ExaminedNode& node : result_.nodes) find_constants(node);
    check_initializers();
    list_unchecked();
    result_.pending_checksums = files_.take_pending_checksums();
    return std::move(result_);
  }

 private:
  void read_stated_entries() {
    Result<ContextMetadata> metadata = read_metadata(model_.metadata);
    if (metadata.ok()) {
      result_.metadata = std::move(*metadata);
    } else {
      result_.metadata_status = metadata.status();
    }
    result_.is_of_this_host =
        result_.metadata.is_stated || !metadata.ok() || model_.producer_name == kProducerName;
  }

  // All nodes must be of validating sources, as a file may contain partitions of several.
  [[nodiscard]] bool may_defer_checksums(const std::vector<NodePlace>& places) const {
    if (options_.validating_sources.empty()) return false;
    return std::all_of(places.begin(), places.end(), [&](const NodePlace& place) {
      const Result<EpContextNode> node = read_ep_context_node(*place.graph, place.node);
      return !node.ok() || options_.validating_sources.contains(node->source);
    });
  }

  static std::string describe(const ExaminedNode& node) {
    return graph::describe_node(*node.place.graph, node.place.node);
  }

  static void fail(ExaminedNode& node, const Status& reason) {
    node.status = Status(reason.code(), formatted("{}: {}", describe(node), reason.message()));
  }

  void read_node(NodePlace place) {
    const auto index = static_cast<uint32_t>(result_.nodes.size());
    ExaminedNode& node = result_.nodes.emplace_back(ExaminedNode{.place = place});
    Result<EpContextNode> read = read_ep_context_node(*place.graph, place.node);
    if (!read.ok()) {
      node.status = read.status();
      return;
    }
    graph::Blob embedded = std::exchange(read->payload, {});
    node.attributes = std::move(*read);
    if (!node.attributes.main_context) return;
    if (node.attributes.embedded) {
      add_embedded(index, std::move(embedded));
    } else {
      add_file(index);
    }
    if (node.payload == kNoPayload) return;
    primaries_.add(node.attributes, node.payload);
    note_compatibility(node);
  }

  // Nodes that share a payload must not contradict each other.
  void note_compatibility(ExaminedNode& node) {
    const auto& texts = result_.metadata.payload_compatibility;
    const auto stated = texts.find(node.attributes.partition_name);
    if (stated == texts.end()) return;
    std::string& known = result_.payloads[node.payload].payload.compatibility;
    if (known.empty()) known = stated->second;
    if (known == stated->second) return;
    fail(node, Status(StatusCode::kInvalidGraph,
                      formatted("its payload has the compatibility string {}, and another node of "
                                "the payload states {}; compile the source model again",
                                quote(stated->second), quote(known))));
  }

  void add_embedded(uint32_t index, graph::Blob bytes) {
    ExaminedNode& node = result_.nodes[index];
    ChecksummedBytes found{.bytes = std::move(bytes),
                           .known = options_.known_checksums,
                           .cancellation = options_.cancellation};
    const ContentChecksum* stated =
        options_.verify_checksums
            ? look_up(result_.metadata.embedded, node.attributes.partition_name)
            : nullptr;
    const Content content = check_content(found, stated, "its embedded payload");
    add_payload(index, content, "");
    if (!node.status.ok()) return;
    Result<graph::Blob> aligned = align_payload(content.bytes);
    if (!aligned.ok()) return fail(node, aligned.status());
    result_.payloads[node.payload].payload.bytes = std::move(*aligned);
  }

  // Nodes of one source that name the same file share a payload.
  void add_file(uint32_t index) {
    ExaminedNode& node = result_.nodes[index];
    const std::string& name = node.attributes.reference;
    const Content& content = files_.find(name, look_up(result_.metadata.binaries, name));
    // Another spelling of the path leads to the same bytes and is the same file; without bytes only
    // the name counts.
    const std::byte* bytes = content.bytes.bytes.data();
    const auto key = std::tuple(bytes, node.attributes.source, bytes ? std::string() : name);
    const auto known = payload_of_file_.find(key);
    if (known == payload_of_file_.end()) {
      add_payload(index, content, name);
      payload_of_file_.emplace(key, node.payload);
      return;
    }
    node.payload = known->second;
    ExaminedPayload& payload = result_.payloads[node.payload];
    if (content.state == ChecksumState::kOk) payload.checksum = ChecksumState::kOk;
    if (!content.status.ok()) fail(node, content.status);
  }

  void add_payload(uint32_t index, const Content& content, const std::string& file_name) {
    ExaminedNode& node = result_.nodes[index];
    node.payload = static_cast<uint32_t>(result_.payloads.size());
    result_.payloads.push_back({.payload = {.bytes = content.bytes,
                                            .source = node.attributes.source,
                                            .file_name = file_name},
                                .primary = index,
                                .checksum = content.state});
    if (!content.status.ok()) fail(node, content.status);
  }

  void find_primary(ExaminedNode& node) {
    if (node.attributes.main_context || !node.status.ok()) return;
    const Result<uint32_t> payload = primaries_.find(node.attributes);
    if (!payload.ok()) return fail(node, payload.status());
    node.payload = *payload;
  }

  void find_constants(ExaminedNode& node) {
    if (node.attributes.constants.empty() || !node.status.ok()) return;
    Result<std::vector<graph::Tensor>> found =
        constants_.find(*node.place.graph, node.attributes.constants);
    if (!found.ok()) return fail(node, found.status());
    node.constants = std::move(*found);
  }

  void check_initializers() {
    if (!options_.verify_checksums) return;
    const std::optional<fs::path>& folder = initializers_folder(options_);
    PayloadFiles files(options_, folder);
    for (const auto* stated : {&result_.metadata.initializers, &result_.metadata.originals}) {
      for (const auto& [name, checksum] : *stated) {
        // The importer took them from the memory of the caller, where no other generation can get
        // in.
        if (!folder && !options_.files.contains(name)) continue;
        const Content content = files.find_current(name, &checksum);
        if (content.status.ok()) continue;
        result_.initializers.push_back(
            Status(content.status).with_context("checking the initializers"));
      }
    }
  }

  void list_unchecked() {
    if (!options_.verify_checksums || result_.nodes.empty()) return;
    for (const ExaminedPayload& examined : result_.payloads) {
      if (examined.checksum != ChecksumState::kNotStated) continue;
      const std::string& file = examined.payload.file_name;
      result_.unchecked.push_back(file.empty() ? "the payload of " +
                                                     describe(result_.nodes[examined.primary])
                                               : "file " + quote(file));
    }
    for (const std::string& location : options_.unchecked_external_data) {
      const ContextMetadata& stated = result_.metadata;
      if (stated.initializers.contains(location) || stated.originals.contains(location)) continue;
      result_.unchecked.push_back("external data " + quote(location));
    }
  }

  const graph::Model& model_;
  const LoadOptions& options_;
  PayloadFiles files_;
  ConstantCheck constants_;
  Primaries primaries_;
  std::map<std::tuple<const std::byte*, std::string, std::string>, uint32_t> payload_of_file_;
  Examination result_;
};

}  // namespace

Examination examine_context(const graph::Model& model, const LoadOptions& options) {
  return Examiner(model, options).run();
}

Status check_required_checksums(const Examination& examination, const LoadOptions& options) {
  const bool required = options.require_checksums.value_or(examination.is_of_this_host);
  if (!required || examination.unchecked.empty()) return {};
  return Status(StatusCode::kInvalidGraph,
                formatted("the context model has no checksum of {}{}; compile the source model "
                          "again, or set ep.require_checksums to 0 to load it unchecked",
                          join(examination.unchecked, ", "),
                          examination.is_of_this_host ? ", which it had when it was written" : ""));
}

Status first_failure(const Examination& examination) {
  EPHOST_RETURN_IF_ERROR(examination.metadata_status);
  for (const ExaminedNode& node : examination.nodes) EPHOST_RETURN_IF_ERROR(node.status);
  for (const Status& status : examination.initializers) EPHOST_RETURN_IF_ERROR(status);
  return {};
}

}  // namespace ephost::context
