#include "host/session/contexts/context_generation.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/context/file_names.h"
#include "host/graph/clone.h"
#include "host/session/config/session_config.h"
#include "host/session/contexts/context_rewrite.h"

namespace ephost::session {
namespace {

// Connects a provider to the writer, and stores the attributes that it sets for its nodes.
class ProviderSink : public bridge::ContextSink {
 public:
  // `digests` is null if nothing is compared.
  ProviderSink(context::ContextWriter& writer, const bridge::Provider& provider,
               const std::vector<CompiledNode*>& nodes, const Cancellation& cancellation,
               PayloadDigests* digests)
      : writer_(writer),
        provider_(provider),
        nodes_(nodes),
        cancellation_(cancellation),
        digests_(digests) {}

  Result<uint32_t> begin_payload(std::string_view compatibility) override {
    EPHOST_ASSIGN_OR_RETURN(
        const uint32_t payload,
        writer_.begin_payload(provider_.short_name(), std::string(compatibility)));
    own_payloads_.insert(payload);
    if (digests_ != nullptr) digests_->begin(provider_.name(), payload);
    return payload;
  }

  Status append(uint32_t payload, std::span<const std::byte> bytes) override {
    EPHOST_RETURN_IF_ERROR(cancellation_.check());
    EPHOST_RETURN_IF_ERROR(check_payload(payload));
    if (digests_ != nullptr) digests_->append(payload, bytes);
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
    context::WrittenPartition& written = nodes_[node.computation]->partition;
    if (digests_ != nullptr) digests_->add_partition(node.payload, written.name);
    written.payload = node.payload;
    written.source = std::move(source);
    written.sdk_version = bridge::view(node.sdk_version);
    written.hardware_architecture = bridge::view(node.hardware_architecture);
    written.notes = bridge::view(node.notes);
    written.max_size = node.max_size;
    EPHOST_ASSIGN_OR_RETURN(written.constants, find_constants(node));
    return Status::ok_status();
  }

 private:
  Result<std::vector<graph::ValueId>> find_constants(const eph_context_node& node) const {
    const CompiledNode& compiled = *nodes_[node.computation];
    std::vector<graph::ValueId> found;
    std::set<graph::ValueId> seen;
    for (const eph_string& text : std::span(node.constants, node.constant_count)) {
      const std::string_view name = bridge::view(text);
      const auto refuse = [&](std::string_view why) {
        return Status(
            StatusCode::kInvalidArgument,
            formatted("{} names constant {} for the context of partition {}, {}", provider_.name(),
                      quote(name), quote(compiled.partition.name), why));
      };
      if (compiled.drops_constants) {
        return refuse("but gave up its constants with EPH_CLAIM_DROP_CONSTANTS; claim without it");
      }
      const auto constant = compiled.constants.find(name);
      if (constant == compiled.constants.end()) {
        return refuse("which has no such constant; name constants of the graph as it was compiled");
      }
      if (!seen.insert(constant->second).second) return refuse("and names it twice");
      found.push_back(constant->second);
    }
    return found;
  }

  Status check_payload(uint32_t payload) const {
    if (own_payloads_.contains(payload)) return Status::ok_status();
    return Status(StatusCode::kEpFail, formatted("{} writes to payload {}, which it did not begin",
                                                 provider_.name(), payload));
  }

  context::ContextWriter& writer_;
  const bridge::Provider& provider_;
  const std::vector<CompiledNode*>& nodes_;
  const Cancellation& cancellation_;
  PayloadDigests* digests_;
  std::set<uint32_t> own_payloads_;
};

// Takes what a provider with the promise writes, and keeps nothing but its checksums.
class DigestSink : public bridge::ContextSink {
 public:
  DigestSink(PayloadDigests& digests, const bridge::Provider& provider,
             const std::vector<CompiledNode*>& nodes, uint32_t& payload_count)
      : digests_(digests), provider_(provider), nodes_(nodes), payload_count_(payload_count) {}

  Result<uint32_t> begin_payload(std::string_view) override {
    digests_.begin(provider_.name(), payload_count_);
    return payload_count_++;
  }
  Status append(uint32_t payload, std::span<const std::byte> bytes) override {
    digests_.append(payload, bytes);
    return {};
  }
  Status add_node(const eph_context_node& node) override {
    digests_.add_partition(node.payload, nodes_[node.computation]->partition.name);
    return {};
  }

 private:
  PayloadDigests& digests_;
  const bridge::Provider& provider_;
  const std::vector<CompiledNode*>& nodes_;
  uint32_t& payload_count_;
};

context::WrittenPartition place_of(const PreparedGraph& graph,
                                   const partition::Partition& partition) {
  context::WrittenPartition written;
  written.graph = graph.place;
  written.nodes = partition.nodes;
  written.inputs = partition.inputs;
  written.outputs = partition.outputs;
  written.name = partition.name;
  return written;
}

std::map<std::string, graph::ValueId, std::less<>> constants_of(
    const graph::Graph& graph, const partition::Partition& partition) {
  std::map<std::string, graph::ValueId, std::less<>> constants;
  for (const graph::ValueId id : partition.constants) constants.emplace(graph.values[id].name, id);
  return constants;
}

// The compiled nodes of one provider, in the order of their models.
using NodesByProvider = std::vector<std::pair<bridge::Provider*, std::vector<CompiledNode*>>>;

NodesByProvider group_by_provider(std::vector<CompiledModel>& models) {
  NodesByProvider grouped;
  for (CompiledModel& model : models) {
    for (CompiledNode& node : model.nodes) {
      auto own = std::find_if(grouped.begin(), grouped.end(), [&](const auto& entry) {
        return entry.first == node.provider.get();
      });
      if (own == grouped.end()) own = grouped.insert(grouped.end(), {node.provider.get(), {}});
      own->second.push_back(&node);
    }
  }
  return grouped;
}

std::vector<const bridge::Computation*> computations_of(const std::vector<CompiledNode*>& nodes) {
  std::vector<const bridge::Computation*> computations;
  for (const CompiledNode* node : nodes) computations.push_back(&node->computation);
  return computations;
}

// Fills in what the provider said about the node when it compiled it, if it was restored.
void take_attributes(const ReusedContexts& reused, CompiledNode& node) {
  const ReusedContext* context = reused.find(node.partition.name);
  if (context == nullptr) return;
  node.reused_payload = context->payload;
  node.partition.source = context->attributes.source;
  node.partition.sdk_version = context->attributes.sdk_version;
  node.partition.hardware_architecture = context->attributes.hardware_architecture;
  node.partition.notes = context->attributes.notes;
  node.partition.max_size = context->attributes.max_size;
}

// The first node of a payload becomes its primary node, which is to be the same as before.
void put_reused_primaries_first(const ReusedContexts& reused, std::vector<CompiledNode>& nodes) {
  std::stable_partition(nodes.begin(), nodes.end(), [&](const CompiledNode& node) {
    const ReusedContext* context = reused.find(node.partition.name);
    return context == nullptr || context->attributes.main_context;
  });
}

// Copies the payloads that the provider restored its nodes from.
Status copy_reused(context::ContextWriter& writer, const bridge::Provider& provider,
                   const std::vector<ReusedPayload>& payloads,
                   const std::vector<CompiledNode*>& nodes) {
  std::map<uint32_t, uint32_t> copies;  // their numbers in the output
  for (CompiledNode* node : nodes) {
    if (!node->reused_payload) continue;
    const auto [copy, is_new] = copies.try_emplace(*node->reused_payload);
    if (is_new) {
      const ReusedPayload& payload = payloads[*node->reused_payload];
      EPHOST_ASSIGN_OR_RETURN(copy->second,
                              writer.begin_payload(provider.short_name(), payload.compatibility));
      EPHOST_RETURN_IF_ERROR(writer.append(copy->second, payload.bytes.bytes));
    }
    node->partition.payload = copy->second;
  }
  return Status::ok_status();
}

// The compatibility strings of the sources that a model's nodes state.
Result<std::map<std::string, std::string>> compatibility_of(const CompiledModel& model) {
  std::map<std::string, std::string> texts;
  for (const CompiledNode& node : model.nodes) {
    if (texts.contains(node.partition.source)) continue;
    EPHOST_ASSIGN_OR_RETURN(std::string text, node.provider->compatibility());
    if (!text.empty()) texts.emplace(node.partition.source, std::move(text));
  }
  return texts;
}

Result<context::ModelToWrite> to_model(CompiledModel& compiled) {
  context::ModelToWrite model;
  EPHOST_ASSIGN_OR_RETURN(model.compatibility, compatibility_of(compiled));
  model.model = std::move(compiled.model);
  for (CompiledNode& node : compiled.nodes) model.partitions.push_back(std::move(node.partition));
  return model;
}

}  // namespace

CompiledModel share(const CompiledModel& model) {
  CompiledModel shared{.options = model.options,
                       .model = graph::clone(model.model),
                       .nodes = {},
                       .reused_payloads = model.reused_payloads};
  for (const CompiledNode& node : model.nodes) {
    shared.nodes.push_back({node.provider, node.computation.share(), node.partition, node.constants,
                            node.drops_constants, node.reused_payload});
  }
  return shared;
}

CompiledModel collect_compiled(const PreparedModel& prepared, context::WriteOptions options) {
  CompiledModel compiled{.options = std::move(options),
                         .model = graph::clone(prepared.model),
                         .nodes = {},
                         .reused_payloads = prepared.reused.payloads};
  compiled.options.files = prepared.files;
  // In the order of the providers, as the payloads in the output follow this order.
  for (uint32_t provider = 0; provider < prepared.providers.size(); ++provider) {
    const std::shared_ptr<bridge::Provider>& owner = prepared.providers[provider];
    size_t uncached = 0;
    for (const PreparedGraph* graph : prepared.graphs()) {
      const std::vector<plan::Step>& steps = graph->execution.steps;
      for (size_t step = 0; step < steps.size(); ++step) {
        if (steps[step].provider != provider || steps[step].partition == plan::kNoPartition) {
          continue;
        }
        if (!owner->can_write_context()) {
          ++uncached;
          continue;
        }
        const partition::Partition& partition =
            graph->partitioning.partitions[steps[step].partition];
        compiled.nodes.push_back(
            {owner, graph->computations[step]->share(), place_of(*graph, partition),
             constants_of(prepared.graph_of(*graph), partition), partition.drop_constants});
        take_attributes(prepared.reused, compiled.nodes.back());
      }
    }
    if (uncached == 0) continue;
    log_warning(formatted(
        "{} cannot write an EP context; its {} partitions stay plain nodes in the context model",
        owner->name(), uncached));
  }
  put_reused_primaries_first(prepared.reused, compiled.nodes);
  return compiled;
}

Result<context::WrittenContext> write_compiled(context::ContextWriter writer,
                                               std::vector<CompiledModel> models,
                                               const Cancellation& cancellation,
                                               const PayloadDigests* expected) {
  PayloadDigests digests;
  for (auto& [provider, nodes] : group_by_provider(models)) {
    EPHOST_RETURN_IF_ERROR(copy_reused(writer, *provider, models.front().reused_payloads, nodes));
    std::erase_if(nodes, [](const CompiledNode* node) { return node->reused_payload.has_value(); });
    if (nodes.empty()) continue;
    const bool compares = expected != nullptr && provider->plugin().manifest.deterministic;
    ProviderSink sink(writer, *provider, nodes, cancellation, compares ? &digests : nullptr);
    EPHOST_RETURN_IF_ERROR(provider->write_context(computations_of(nodes), sink));
  }
  if (expected != nullptr) EPHOST_RETURN_IF_ERROR(digests.compare(*expected));
  EPHOST_RETURN_IF_ERROR(cancellation.check());
  EPHOST_ASSIGN_OR_RETURN(context::ModelToWrite first, to_model(models.front()));
  for (size_t i = 1; i < models.size(); ++i) {
    EPHOST_ASSIGN_OR_RETURN(context::ModelToWrite model, to_model(models[i]));
    EPHOST_RETURN_IF_ERROR(writer.add_model(std::move(models[i].options), std::move(model)));
  }
  return std::move(writer).finish(std::move(first.model), first.partitions, first.compatibility);
}

Result<PayloadDigests> digest_contexts(const PreparedModel& prepared) {
  std::vector<CompiledModel> models;
  models.push_back(collect_compiled(prepared, {}));
  PayloadDigests digests;
  uint32_t payload_count = 0;
  for (auto& [provider, nodes] : group_by_provider(models)) {
    if (!provider->plugin().manifest.deterministic) continue;
    DigestSink sink(digests, *provider, nodes, payload_count);
    EPHOST_RETURN_IF_ERROR(provider->write_context(computations_of(nodes), sink));
  }
  return digests;
}

Result<std::optional<context::WriteOptions>> session_write_options(const ModelSource& source,
                                                                   const SessionConfig& config) {
  if (!config.context_enable) return std::optional<context::WriteOptions>();
  context::WriteOptions options;
  options.output_path = config.context_file_path;
  if (options.output_path.empty()) {
    if (source.path.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    "a model from memory has no name to derive its context model's from; set "
                    "ep.context_file_path");
    }
    options.output_path = context::context_model_path(source.path);
  }
  options.source_path = source.path;
  options.force_overwrite = config.context_force_overwrite;
  options.embed = config.context_embed_mode;
  options.external_initializers_file_name = config.context_external_initializers_file;
  return std::optional(std::move(options));
}

Result<std::unique_ptr<ContextGeneration>> ContextGeneration::create(
    context::WriteOptions options, WithoutNodes without_nodes, const Cancellation& cancellation) {
  options.cancellation = cancellation;
  EPHOST_ASSIGN_OR_RETURN(context::ContextWriter writer, context::ContextWriter::create(options));
  return std::unique_ptr<ContextGeneration>(
      new ContextGeneration(std::move(options), std::move(writer), without_nodes, cancellation));
}

Status ContextGeneration::check(const PreparedModel& prepared) {
  return writer_.add_files(prepared.files);
}

void ContextGeneration::state_specializations(
    std::map<std::string, context::ContentChecksum> written) {
  writer_.state_specializations(written);
  options_.specializations = std::move(written);
}

Status ContextGeneration::write(const PreparedModel& prepared) {
  EPHOST_RETURN_IF_ERROR(check(prepared));
  CompiledModel compiled = collect_compiled(prepared, options_);
  if (compiled.nodes.empty() && without_nodes_ == WithoutNodes::kFail) {
    return Status(StatusCode::kFail,
                  "no provider compiled anything that can be cached; add a provider that does, or "
                  "allow the plain model to be written");
  }
  if (compiled.nodes.empty() && without_nodes_ == WithoutNodes::kWarn) {
    log_warning("no provider compiled anything that can be cached; no context model was written");
    return Status::ok_status();
  }
  for (const CompiledNode& node : compiled.nodes) {
    written_partitions_.push_back(
        {node.partition.name, node.provider->name(), node.partition.nodes.size()});
  }
  std::vector<CompiledModel> models;
  models.push_back(std::move(compiled));
  EPHOST_ASSIGN_OR_RETURN(
      written_, write_compiled(std::move(writer_), std::move(models), cancellation_, expected_));
  return Status::ok_status();
}

Status ContextGeneration::write_again(const PreparedModel& prepared) {
  EPHOST_RETURN_IF_ERROR(check(prepared));
  written_partitions_ = cached_partitions(prepared);
  EPHOST_RETURN_IF_ERROR(cancellation_.check());
  EPHOST_ASSIGN_OR_RETURN(written_, rewrite_context(std::move(writer_), prepared));
  return Status::ok_status();
}

}  // namespace ephost::session
