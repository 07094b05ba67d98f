#include "host/context/write/writer.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/file_names.h"
#include "host/context/write/output_files.h"
#include "host/context/write/partition_rewrite.h"
#include "host/context/write/payload_sink.h"
#include "host/context/write/staged_output.h"

namespace ephost::context {

namespace {

Status check_text(std::string_view what, const std::string& text) {
  if (!text.empty() && is_valid_utf8(text)) return {};
  return invalid_argument(formatted(
      "the {} {} cannot be stated in a model; it must be UTF-8 and not empty", what, quote(text)));
}

// `names` collects the partition names of all models, as one payload may contain partitions of
// each.
Status check_texts(const ModelToWrite& model, std::set<std::string_view>& names) {
  for (const WrittenPartition& partition : model.partitions) {
    EPHOST_RETURN_IF_ERROR(check_text("partition name", partition.name));
    EPHOST_RETURN_IF_ERROR(check_text("source", partition.source));
    if (!names.insert(partition.name).second) {
      return invalid_argument("two partitions are named " + quote(partition.name) +
                              "; names must differ within a model and a group of models");
    }
    if (partition.max_size < 0) {
      return invalid_argument("partition " + quote(partition.name) + " has a negative max_size");
    }
  }
  for (const auto& [source, text] : model.compatibility) {
    EPHOST_RETURN_IF_ERROR(check_text("source", source));
    EPHOST_RETURN_IF_ERROR(check_text("compatibility string", text));
  }
  return {};
}

// For each payload, the first partition of a model that is in it; null if there is none.
using PrimaryPartitions = std::vector<const WrittenPartition*>;

// All partitions in a payload must have the same source.
Result<PrimaryPartitions> find_primaries(std::span<const WrittenPartition> partitions,
                                         size_t payload_count) {
  PrimaryPartitions primaries(payload_count, nullptr);
  for (const WrittenPartition& partition : partitions) {
    if (partition.payload >= payload_count) {
      return invalid_argument(formatted("partition {} refers to payload {}, which was not begun",
                                        quote(partition.name), partition.payload));
    }
    const WrittenPartition*& primary = primaries[partition.payload];
    if (!primary) primary = &partition;
    if (primary->source != partition.source) {
      return invalid_argument(
          formatted("partition {} of source {} refers to a payload of source {}",
                    quote(partition.name), quote(partition.source), quote(primary->source)));
    }
  }
  return primaries;
}

// Every payload must belong to a partition.
Status check_payloads_used(std::span<const PrimaryPartitions> models, size_t payload_count) {
  for (size_t i = 0; i < payload_count; ++i) {
    const bool used =
        std::any_of(models.begin(), models.end(),
                    [&](const PrimaryPartitions& model) { return model[i] != nullptr; });
    if (used) continue;
    return invalid_argument(
        formatted("payload {} belongs to no partition; add a node for it, or do not begin it", i));
  }
  return {};
}

uint64_t count_remaining_nodes(const graph::Graph& graph) {
  return static_cast<uint64_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [](const graph::Node& node) { return !is_ep_context(node); }));
}

}  // namespace

struct ContextWriter::State {
  struct Member {
    WriteOptions options;
    ModelToWrite content;
  };

  State(WriteOptions given, OperationFiles known)
      : options(std::move(given)), files(std::move(known)) {
    file_names.insert(options.external_initializers_file_name);
  }

  std::string next_binary_name(std::string_view ep_short_name);
  Status place_payloads();
  Status rewrite(ModelToWrite& content, const WriteOptions& model_options,
                 const PrimaryPartitions& primaries, ContextMetadata& metadata) const;

  WriteOptions options;  // of the first model
  OperationFiles files;  // including the outputs of all models
  std::vector<Member> added;
  std::vector<StagedPayload> payloads;
  std::vector<PayloadPlacement> placements;  // one for each payload, once all are complete
  std::set<std::string> file_names;          // taken
  uint64_t embedded_bytes = 0;
};

ContextWriter::ContextWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ContextWriter::ContextWriter(ContextWriter&&) noexcept = default;
ContextWriter& ContextWriter::operator=(ContextWriter&&) noexcept = default;
ContextWriter::~ContextWriter() = default;

Status ContextWriter::check(const WriteOptions& options) {
  OperationFiles files;
  return check_output(options, files);
}

Result<ContextWriter> ContextWriter::create(WriteOptions options) {
  OperationFiles files;
  EPHOST_RETURN_IF_ERROR(check_output(options, files));
  return ContextWriter(std::make_unique<State>(std::move(options), std::move(files)));
}

Status ContextWriter::add_files(const OperationFiles& files) {
  return state_->files.add_all(files);
}

// Two providers may arrive at the same name (`a` with index 1, `a_1` with index 0); the later one
// takes the next free index.
std::string ContextWriter::State::next_binary_name(std::string_view ep_short_name) {
  const std::string stem = context_model_stem(options.output_path);
  for (uint32_t index = 0;; ++index) {
    std::string name = context_binary_name(stem, ep_short_name, index);
    if (file_names.insert(name).second) return name;
  }
}

Result<uint32_t> ContextWriter::begin_payload(std::string_view ep_short_name,
                                              std::string compatibility) {
  State& state = *state_;
  const auto number = static_cast<uint32_t>(state.payloads.size());
  if (!compatibility.empty()) {
    EPHOST_RETURN_IF_ERROR(check_text("compatibility string", compatibility));
  }
  if (state.options.embed) {
    state.payloads.push_back(
        {.sink = PayloadSink::to_memory(), .compatibility = std::move(compatibility)});
    return number;
  }
  const bool plain = !ep_short_name.empty() && is_valid_utf8(ep_short_name) &&
                     ep_short_name.find('/') == std::string_view::npos &&
                     ep_short_name.find('\0') == std::string_view::npos;
  if (!plain) {
    return invalid_argument("the provider's short name " + quote(ep_short_name) +
                            " cannot be part of a file name; change it in the manifest");
  }
  std::string name = state.next_binary_name(ep_short_name);
  if (state.options.write_payload) {
    state.payloads.push_back({.sink = PayloadSink::to_memory(),
                              .file_name = std::move(name),
                              .compatibility = std::move(compatibility)});
    return number;
  }
  const std::filesystem::path path = folder_of(state.options.output_path) / name;
  EPHOST_RETURN_IF_ERROR(state.files.add_output(path, "the context binary"));
  EPHOST_RETURN_IF_ERROR(check_binary_name(state.options, name));
  EPHOST_ASSIGN_OR_RETURN(PayloadSink sink, PayloadSink::to_file(path, *state.options.file_system));
  state.payloads.push_back({.sink = std::move(sink),
                            .file_name = std::move(name),
                            .compatibility = std::move(compatibility)});
  return number;
}

Status ContextWriter::append(uint32_t payload, std::span<const std::byte> bytes) {
  State& state = *state_;
  if (payload >= state.payloads.size()) {
    return invalid_argument(formatted("payload {} was not begun", payload));
  }
  if (state.options.embed) {
    state.embedded_bytes += bytes.size();
    if (state.embedded_bytes > state.options.max_model_bytes) {
      return model_too_large(state.embedded_bytes, state.options.max_model_bytes);
    }
  }
  return state.payloads[payload].sink.append(bytes, state.options.cancellation);
}

Status ContextWriter::add_model(WriteOptions options, ModelToWrite model) {
  State& state = *state_;
  const auto is_file = [](const WriteOptions& of) {
    return of.destination == Destination::kFile && !of.embed && !of.write_payload;
  };
  if (!is_file(state.options) || !is_file(options)) {
    return invalid_argument(
        "models share their payloads through files; write them with embed mode 0");
  }
  if (folder_of(options.output_path) != folder_of(state.options.output_path)) {
    return invalid_argument(
        formatted("the context models {} and {} share binaries, so they must lie in one folder",
                  quote(state.options.output_path.native()), quote(options.output_path.native())));
  }
  for (const std::string& name :
       {options.output_path.filename().native(), options.external_initializers_file_name}) {
    const bool taken = name == state.options.output_path.filename().native() ||
                       (!name.empty() && !state.file_names.insert(name).second);
    if (!taken) continue;
    return invalid_argument(
        "the file " + quote((folder_of(options.output_path) / name).native()) +
        " would be written for two models of the group; give them different names");
  }
  EPHOST_RETURN_IF_ERROR(check_output(options, state.files));
  state.added.push_back({std::move(options), std::move(model)});
  return {};
}

Status ContextWriter::State::place_payloads() {
  for (StagedPayload& payload : payloads) {
    EPHOST_RETURN_IF_ERROR(payload.sink.flush());
    if (options.embed) {
      placements.push_back({.embedded = true, .bytes = payload.sink.take_memory()});
    } else {
      placements.push_back({.embedded = false, .file_name = payload.file_name});
    }
  }
  return {};
}

// Replaces the partitions by nodes, and adds checksums and texts of their payloads to the metadata.
Status ContextWriter::State::rewrite(ModelToWrite& content, const WriteOptions& model_options,
                                     const PrimaryPartitions& primaries,
                                     ContextMetadata& metadata) const {
  for (size_t i = 0; i < payloads.size(); ++i) {
    if (primaries[i] == nullptr) continue;
    auto& checksums = options.embed ? metadata.embedded : metadata.binaries;
    checksums[options.embed ? primaries[i]->name : payloads[i].file_name] =
        payloads[i].sink.checksum();
    if (!payloads[i].compatibility.empty()) {
      metadata.payload_compatibility[primaries[i]->name] = payloads[i].compatibility;
    }
  }
  content.model.producer_name = kProducerName;
  content.model.producer_version = EPHOST_VERSION;
  return replace_partitions(content.model, content.partitions, placements,
                            model_options.source_path.filename().native());
}

void ContextWriter::state_specializations(std::map<std::string, ContentChecksum> written) {
  state_->options.specializations = std::move(written);
}

Result<WrittenContext> ContextWriter::finish(
    graph::Model model, std::span<const WrittenPartition> partitions,
    const std::map<std::string, std::string>& compatibility) && {
  // The state owns the temporary files, which are removed with it on every path.
  const std::unique_ptr<State> state = std::move(state_);
  std::vector<State::Member> members;
  members.push_back({state->options,
                     {.model = std::move(model),
                      .partitions = {partitions.begin(), partitions.end()},
                      .compatibility = compatibility}});
  std::move(state->added.begin(), state->added.end(), std::back_inserter(members));

  std::set<std::string_view> names;
  std::vector<PrimaryPartitions> primaries;
  for (const State::Member& member : members) {
    EPHOST_RETURN_IF_ERROR(check_texts(member.content, names));
    EPHOST_ASSIGN_OR_RETURN(PrimaryPartitions of_model,
                            find_primaries(member.content.partitions, state->payloads.size()));
    primaries.push_back(std::move(of_model));
  }
  EPHOST_RETURN_IF_ERROR(check_payloads_used(primaries, state->payloads.size()));
  EPHOST_RETURN_IF_ERROR(state->place_payloads());

  WrittenContext written;
  std::vector<StagedOutput> staged;
  staged.reserve(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    ModelToWrite& content = members[i].content;
    ContextMetadata metadata{.compatibility = content.compatibility,
                             .specializations = members[i].options.specializations};
    EPHOST_RETURN_IF_ERROR(state->rewrite(content, members[i].options, primaries[i], metadata));
    StagedOutput& output = staged.emplace_back(members[i].options, state->payloads);
    EPHOST_RETURN_IF_ERROR(output.encode(content.model, std::move(metadata)));
    EPHOST_RETURN_IF_ERROR(
        output.load_back(content.partitions).with_context("loading the context model for a check"));
    written.remaining_nodes += count_remaining_nodes(content.model.graph);
  }
  EPHOST_ASSIGN_OR_RETURN(written.files, StagedOutput::publish(staged));
  written.model = staged.front().model_bytes();
  return written;
}

}  // namespace ephost::context
