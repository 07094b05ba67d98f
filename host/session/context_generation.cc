#include "host/session/context_generation.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/log.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/context/names.h"
#include "host/graph/clone.h"
#include "host/session/session_config.h"

namespace ephost::session {
namespace {

// A compiled partition and the graph that it is in.
struct PlacedPartition {
  const PreparedGraph* graph = nullptr;
  const partition::Partition* partition = nullptr;
};

// Connects one provider to the writer.
class ProviderSink : public bridge::ContextSink {
 public:
  ProviderSink(context::ContextWriter& writer, const bridge::Provider& provider,
               const std::vector<PlacedPartition>& partitions,
               std::vector<context::WrittenPartition>& out)
      : writer_(writer), provider_(provider), partitions_(partitions), out_(out) {}

  Result<uint32_t> begin_payload() override {
    EPHOST_ASSIGN_OR_RETURN(const uint32_t payload, writer_.begin_payload(provider_.short_name()));
    own_payloads_.push_back(payload);
    return payload;
  }

  Status append(uint32_t payload, std::span<const std::byte> bytes) override {
    EPHOST_RETURN_IF_ERROR(check_payload(payload));
    return writer_.append(payload, bytes);
  }

  Status add_node(const eph_context_node& node) override {
    EPHOST_RETURN_IF_ERROR(check_payload(node.payload));
    const std::vector<std::string>& sources = provider_.plugin().manifest.context_sources;
    std::string source(bridge::view(node.source));
    if (source.empty() && !sources.empty()) source = sources.front();
    if (std::find(sources.begin(), sources.end(), source) == sources.end()) {
      return Status(StatusCode::kEpFail,
                    provider_.name() + " writes a context of source " + quote(source) +
                        ", which its manifest does not list under context_sources; add it there");
    }
    const PlacedPartition& placed = partitions_[node.computation];
    const partition::Partition& partition = *placed.partition;
    context::WrittenPartition written;
    written.graph = placed.graph->place;
    written.nodes = partition.nodes;
    written.inputs = partition.inputs;
    written.outputs = partition.outputs;
    written.name = partition.name;
    written.payload = node.payload;
    written.source = std::move(source);
    written.sdk_version = bridge::view(node.sdk_version);
    written.hardware_architecture = bridge::view(node.hardware_architecture);
    written.notes = bridge::view(node.notes);
    written.max_size = node.max_size;
    out_.push_back(std::move(written));
    return Status::ok_status();
  }

 private:
  Status check_payload(uint32_t payload) const {
    if (std::find(own_payloads_.begin(), own_payloads_.end(), payload) != own_payloads_.end()) {
      return Status::ok_status();
    }
    return Status(StatusCode::kEpFail, provider_.name() + " writes to payload " +
                                           std::to_string(payload) + ", which it did not begin");
  }

  context::ContextWriter& writer_;
  const bridge::Provider& provider_;
  const std::vector<PlacedPartition>& partitions_;
  std::vector<context::WrittenPartition>& out_;
  std::vector<uint32_t> own_payloads_;
};

}  // namespace

Result<std::unique_ptr<ContextGeneration>> ContextGeneration::for_session(
    const ModelSource& source, const SessionOptions& options) {
  std::vector<std::string> warnings;  // the pipeline logs them
  EPHOST_ASSIGN_OR_RETURN(const SessionConfig config, read_session_config(options, warnings));
  if (!config.context_enable) return std::unique_ptr<ContextGeneration>();
  context::WriteOptions write_options;
  write_options.output_path = config.context_file_path;
  if (write_options.output_path.empty()) {
    if (source.path.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    "a model from memory has no name to derive its context model's from; set "
                    "ep.context_file_path");
    }
    write_options.output_path = context::context_model_path(source.path);
  }
  write_options.source_path = source.path;
  write_options.embed = config.context_embed_mode;
  write_options.external_initializers_file_name = config.context_external_initializers_file;
  return create(std::move(write_options), false);
}

Result<std::unique_ptr<ContextGeneration>> ContextGeneration::create(
    context::WriteOptions options, bool write_without_partitions) {
  EPHOST_ASSIGN_OR_RETURN(context::ContextWriter writer,
                          context::ContextWriter::create(std::move(options)));
  return std::unique_ptr<ContextGeneration>(
      new ContextGeneration(std::move(writer), write_without_partitions));
}

Status ContextGeneration::write_provider(const PreparedModel& prepared, uint32_t provider) {
  std::vector<PlacedPartition> partitions;
  std::vector<const bridge::Computation*> computations;
  for (const PreparedGraph* graph : prepared.graphs()) {
    const std::vector<plan::Step>& steps = graph->execution.steps;
    for (size_t step = 0; step < steps.size(); ++step) {
      if (steps[step].provider != provider || steps[step].partition == plan::kNoPartition) continue;
      partitions.push_back({graph, &graph->partitioning.partitions[steps[step].partition]});
      computations.push_back(&*graph->computations[step]);
    }
  }
  bridge::Provider& owner = *prepared.providers[provider];
  if (partitions.empty()) return Status::ok_status();
  if (!owner.can_write_context()) {
    log_warning(owner.name() + " cannot write an EP context; its " +
                std::to_string(partitions.size()) +
                " partitions stay plain nodes in the context model");
    return Status::ok_status();
  }
  const size_t first = nodes_.size();
  ProviderSink sink(writer_, owner, partitions, nodes_);
  EPHOST_RETURN_IF_ERROR(owner.write_context(computations, sink));
  for (const PlacedPartition& placed : partitions) {
    written_partitions_.push_back(
        {placed.partition->name, owner.name(), placed.partition->nodes.size()});
  }
  EPHOST_ASSIGN_OR_RETURN(const std::string compatibility, owner.compatibility());
  if (compatibility.empty()) return Status::ok_status();
  for (size_t i = first; i < nodes_.size(); ++i) compatibility_[nodes_[i].source] = compatibility;
  return Status::ok_status();
}

Status ContextGeneration::write(const PreparedModel& prepared) {
  for (uint32_t provider = 0; provider < prepared.providers.size(); ++provider) {
    EPHOST_RETURN_IF_ERROR(write_provider(prepared, provider));
  }
  if (nodes_.empty() && !write_without_partitions_) {
    log_warning("no provider compiled anything that can be cached; no context model was written");
    return Status::ok_status();
  }
  EPHOST_ASSIGN_OR_RETURN(
      written_, std::move(writer_).finish(graph::clone(prepared.model), nodes_, compatibility_));
  return Status::ok_status();
}

}  // namespace ephost::session
