#include "host/context/writer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/names.h"
#include "host/context/output_files.h"
#include "host/context/partition_rewrite.h"
#include "host/context/payload_sink.h"
#include "host/context/staged_output.h"

namespace ephost::context {

namespace {

Status invalid(std::string message) {
  return Status(StatusCode::kInvalidArgument, std::move(message));
}

Status check_text(std::string_view what, const std::string& text) {
  if (!text.empty() && is_valid_utf8(text)) return {};
  return invalid("the " + std::string(what) + " " + quote(text) +
                 " cannot be stated in a model; it must be UTF-8 and not empty");
}

Status check_texts(std::span<const WrittenPartition> partitions,
                   const std::map<std::string, std::string>& compatibility) {
  std::set<std::string_view> names;
  for (const WrittenPartition& partition : partitions) {
    EPHOST_RETURN_IF_ERROR(check_text("partition name", partition.name));
    EPHOST_RETURN_IF_ERROR(check_text("source", partition.source));
    if (!names.insert(partition.name).second) {
      return invalid("two partitions are named " + quote(partition.name) +
                     "; names must differ within a model");
    }
    if (partition.max_size < 0) {
      return invalid("partition " + quote(partition.name) + " states a negative max_size");
    }
  }
  for (const auto& [source, text] : compatibility) {
    EPHOST_RETURN_IF_ERROR(check_text("source", source));
    EPHOST_RETURN_IF_ERROR(check_text("compatibility string", text));
  }
  return {};
}

// Each payload belongs to the partitions of one source, and to at least one. Returns the first
// partition of each.
Result<std::vector<const WrittenPartition*>> find_primaries(
    std::span<const WrittenPartition> partitions, size_t payload_count) {
  std::vector<const WrittenPartition*> primaries(payload_count, nullptr);
  for (const WrittenPartition& partition : partitions) {
    if (partition.payload >= payload_count) {
      return invalid("partition " + quote(partition.name) + " states payload " +
                     std::to_string(partition.payload) + ", which was not begun");
    }
    const WrittenPartition*& primary = primaries[partition.payload];
    if (!primary) primary = &partition;
    if (primary->source != partition.source) {
      return invalid("partition " + quote(partition.name) + " of source " +
                     quote(partition.source) + " states a payload of source " +
                     quote(primary->source));
    }
  }
  const auto unused = std::find(primaries.begin(), primaries.end(), nullptr);
  if (unused == primaries.end()) return primaries;
  return invalid("payload " + std::to_string(unused - primaries.begin()) +
                 " belongs to no partition; add a node for it, or do not begin it");
}

uint64_t count_remaining_nodes(const graph::Graph& graph) {
  return static_cast<uint64_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [](const graph::Node& node) { return !is_ep_context(node); }));
}

}  // namespace

struct ContextWriter::State {
  explicit State(WriteOptions given) : options(std::move(given)) {
    file_names.insert(options.external_initializers_file_name);
  }

  std::string next_binary_name(std::string_view ep_short_name);
  Status rewrite(graph::Model& model, std::span<const WrittenPartition> partitions,
                 std::span<const WrittenPartition* const> primaries, ContextMetadata& metadata);

  WriteOptions options;
  std::vector<StagedPayload> payloads;
  std::set<std::string> file_names;  // taken
  uint64_t embedded_bytes = 0;
};

ContextWriter::ContextWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ContextWriter::ContextWriter(ContextWriter&&) noexcept = default;
ContextWriter& ContextWriter::operator=(ContextWriter&&) noexcept = default;
ContextWriter::~ContextWriter() = default;

Result<ContextWriter> ContextWriter::create(WriteOptions options) {
  EPHOST_RETURN_IF_ERROR(check_output(options));
  return ContextWriter(std::make_unique<State>(std::move(options)));
}

// Two providers may come to one name (`a` with index 1, `a_1` with index 0); the later one counts
// on.
std::string ContextWriter::State::next_binary_name(std::string_view ep_short_name) {
  const std::string stem = context_model_stem(options.output_path);
  for (uint32_t index = 0;; ++index) {
    std::string name = context_binary_name(stem, ep_short_name, index);
    if (file_names.insert(name).second) return name;
  }
}

Result<uint32_t> ContextWriter::begin_payload(std::string_view ep_short_name) {
  State& state = *state_;
  const auto number = static_cast<uint32_t>(state.payloads.size());
  if (state.options.embed) {
    state.payloads.push_back({.sink = PayloadSink::to_memory()});
    return number;
  }
  const bool plain = !ep_short_name.empty() && is_valid_utf8(ep_short_name) &&
                     ep_short_name.find('/') == std::string_view::npos &&
                     ep_short_name.find('\0') == std::string_view::npos;
  if (!plain) {
    return invalid("the provider's short name " + quote(ep_short_name) +
                   " cannot be part of a file name; change it in the manifest");
  }
  std::string name = state.next_binary_name(ep_short_name);
  EPHOST_RETURN_IF_ERROR(check_binary_name(state.options, name));
  EPHOST_ASSIGN_OR_RETURN(PayloadSink sink,
                          PayloadSink::to_file(folder_of(state.options.output_path) / name,
                                               *state.options.file_system));
  state.payloads.push_back({.sink = std::move(sink), .file_name = std::move(name)});
  return number;
}

Status ContextWriter::append(uint32_t payload, std::span<const std::byte> bytes) {
  State& state = *state_;
  if (payload >= state.payloads.size()) {
    return invalid("payload " + std::to_string(payload) + " was not begun");
  }
  if (state.options.embed) {
    state.embedded_bytes += bytes.size();
    if (state.embedded_bytes > state.options.max_model_bytes) {
      return model_too_large(state.embedded_bytes, state.options.max_model_bytes);
    }
  }
  return state.payloads[payload].sink.append(bytes);
}

// Puts the nodes into the model and their sums into the metadata.
Status ContextWriter::State::rewrite(graph::Model& model,
                                     std::span<const WrittenPartition> partitions,
                                     std::span<const WrittenPartition* const> primaries,
                                     ContextMetadata& metadata) {
  std::vector<PayloadPlacement> placements;
  for (size_t i = 0; i < payloads.size(); ++i) {
    StagedPayload& payload = payloads[i];
    EPHOST_RETURN_IF_ERROR(payload.sink.flush());
    if (options.embed) {
      metadata.embedded[primaries[i]->name] = payload.sink.sum();
      placements.push_back({.embedded = true, .bytes = payload.sink.take_memory()});
    } else {
      metadata.binaries[payload.file_name] = payload.sink.sum();
      placements.push_back({.embedded = false, .file_name = payload.file_name});
    }
  }
  model.producer_name = "ephost";
  model.producer_version = EPHOST_VERSION;
  return replace_partitions(model, partitions, placements, options.source_path.filename().native());
}

Result<WrittenContext> ContextWriter::finish(
    graph::Model model, std::span<const WrittenPartition> partitions,
    const std::map<std::string, std::string>& compatibility) && {
  // Temporary files go with the state, whatever happens.
  const std::unique_ptr<State> state = std::move(state_);
  EPHOST_RETURN_IF_ERROR(check_texts(partitions, compatibility));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<const WrittenPartition*> primaries,
                          find_primaries(partitions, state->payloads.size()));
  ContextMetadata metadata{.compatibility = compatibility};
  EPHOST_RETURN_IF_ERROR(state->rewrite(model, partitions, primaries, metadata));

  StagedOutput staged(state->options, state->payloads);
  EPHOST_RETURN_IF_ERROR(
      staged.encode(model, std::move(metadata)).with_context("encoding the context model"));
  EPHOST_RETURN_IF_ERROR(
      staged.load_back(partitions).with_context("loading the context model for a check"));
  EPHOST_ASSIGN_OR_RETURN(std::vector<WrittenFile> files, staged.publish());
  return WrittenContext{.files = std::move(files),
                        .model = staged.model_bytes(),
                        .remaining_nodes = count_remaining_nodes(model.graph)};
}

}  // namespace ephost::context
