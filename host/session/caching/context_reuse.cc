#include "host/session/caching/context_reuse.h"

#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/context/read/loader.h"
#include "host/context/store/key_comparison.h"
#include "host/graph/extract.h"
#include "host/graph/graph_digest.h"
#include "host/onnx_io/import/import.h"
#include "host/session/caching/store_signatures.h"
#include "host/session/model/model_signature.h"
#include "host/session/pipeline/compilation.h"

namespace ephost::session {
namespace {

using context::CachedPartition;
using context::FoundEntry;

constexpr size_t kListedNames = 4;

// Names of partitions for the log.
std::string list_names(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == kListedNames) break;
    shown.push_back(quote(name));
  }
  if (names.size() > shown.size()) {
    shown.push_back(formatted("{} more", names.size() - shown.size()));
  }
  return join(shown, ", ");
}

// A context model of the store, without its weights.
Result<context::LoadedContext> load_entry(const FoundEntry& entry, const SessionConfig& config,
                                          const Cancellation& cancellation) {
  onnx_io::ImportOptions import_options;
  import_options.external_data_dir = entry.folder;
  import_options.infer_shapes = false;
  import_options.align_initializers = false;
  import_options.max_dense_bytes = config.max_dense_bytes;
  import_options.cancellation = cancellation;
  onnx_io::ImportReport report;
  EPHOST_ASSIGN_OR_RETURN(const graph::Model model,
                          onnx_io::import_model(entry.model, import_options, &report));
  context::LoadOptions options;
  options.folder = entry.folder;
  options.files = report.external_data;
  options.unchecked_external_data = report.unchecked_external_data;
  options.require_checksums = true;
  options.known_checksums = KnownChecksums(config.known_checksums_dir);
  options.cancellation = cancellation;
  if (config.signatures != SignaturePolicy::kOff) {
    EPHOST_RETURN_IF_ERROR(check_model_signature(store_verifier(), SignaturePolicy::kRequire,
                                                 entry.model->path(), entry.model->bytes(), model,
                                                 options, signed_description(entry.stated)));
  }
  return context::load_context(model, options);
}

class Reuse {
 public:
  Reuse(const context::CacheStore& store, const context::CacheKey& key,
        const ContextDigests& digests, const SessionConfig& config, PreparedModel& prepared)
      : store_(store), key_(key), config_(config), prepared_(prepared) {
    for (const PreparedGraph* graph : prepared.graphs()) {
      for (const partition::Partition& partition : graph->partitioning.partitions) {
        const auto digest = digests.find(partition.name);
        if (digest == digests.end()) continue;
        wanted_.emplace(partition.name, Wanted{partition.provider, digest->second});
      }
    }
  }

  // Takes over what the entry has; returns whether that is anything.
  Result<bool> take_from(FoundEntry& entry) {
    const ContextDigests stated(entry.stated.contexts.begin(), entry.stated.contexts.end());
    explain(entry, stated);
    if (std::none_of(wanted_.begin(), wanted_.end(), [&](const auto& wanted) {
          return wanted.second.is_open && is_same(wanted.first, stated);
        })) {
      return false;
    }
    Status status = store_.open_model(entry);
    Result<context::LoadedContext> loaded = status.ok()
                                                ? load_entry(entry, config_, prepared_.cancellation)
                                                : Result<context::LoadedContext>(std::move(status));
    EPHOST_RETURN_IF_ERROR(prepared_.cancellation.check());
    if (!loaded.ok()) {
      give_up(entry, loaded.status());
      return false;
    }
    size_t taken = 0;
    for (uint32_t payload = 0; payload < loaded->payloads.size(); ++payload) {
      taken += take_payload(entry, stated, *loaded, payload);
    }
    return taken > 0;
  }

  [[nodiscard]] bool is_complete() const {
    return std::none_of(wanted_.begin(), wanted_.end(),
                        [](const auto& wanted) { return wanted.second.is_open; });
  }

  // Logs why partitions are compiled.
  void report() const {
    std::map<std::pair<uint32_t, std::string>, std::vector<std::string>> reasons;
    for (const auto& [name, wanted] : wanted_) {
      if (wanted.is_open) reasons[{wanted.provider, wanted.reason}].push_back(name);
    }
    for (const auto& [group, names] : reasons) {
      log_info(formatted("cache store: {} compiles {}: {}",
                         prepared_.providers[group.first]->name(), list_names(names),
                         group.second.empty() ? "no older entry has its context" : group.second));
    }
  }

 private:
  struct Wanted {
    uint32_t provider = 0;
    std::string digest;
    bool is_open = true;
    std::string reason;  // why the best entry that was looked at does not give it
  };

  [[nodiscard]] bool is_same(const std::string& partition, const ContextDigests& stated) const {
    const auto wanted = wanted_.find(partition);
    const auto found = stated.find(partition);
    return wanted != wanted_.end() && found != stated.end() &&
           wanted->second.digest == found->second;
  }

  // Notes what keeps an entry from giving a context. The first entry is the best one.
  void explain(const FoundEntry& entry, const ContextDigests& stated) {
    for (auto& [name, wanted] : wanted_) {
      if (!wanted.reason.empty() || is_same(name, stated)) continue;
      const std::string& provider = prepared_.providers[wanted.provider]->name();
      const std::vector<std::string> differences =
          context::provider_differences(entry.stated.key_text, key_.text, provider);
      if (differences == std::vector<std::string>{"provider"}) {
        wanted.reason = formatted("the entry {} was made without {}", entry.id(), provider);
      } else if (!differences.empty()) {
        wanted.reason =
            formatted("the entry {} has another {}", entry.id(), join(differences, ", "));
      } else if (!stated.contains(name)) {
        wanted.reason = formatted("the entry {} has no partition of that name", entry.id());
      } else {
        wanted.reason = formatted("the entry {} has another partition of that name", entry.id());
      }
    }
  }

  void set_reason(const std::string& partition, const std::string& reason) {
    const auto wanted = wanted_.find(partition);
    if (wanted != wanted_.end() && wanted->second.reason.empty()) wanted->second.reason = reason;
  }

  // Deals with an entry that cannot be read.
  void give_up(const FoundEntry& entry, const Status& reason) {
    for (const auto& [name, wanted] : wanted_) {
      set_reason(name,
                 formatted("the entry {} cannot be read: {}", entry.id(), reason.to_string()));
    }
    // Another process may have moved it away.
    if (!context::is_damage(reason) || !entry.lease.is_at(entry.folder)) return;
    log_warning(
        formatted("cache store: entry {} is quarantined: {}", entry.id(), reason.to_string()));
    if (const Status status = store_.quarantine(entry, reason); !status.ok()) {
      log_warning("cache store: " + status.to_string());
    }
  }

  // Why the payload cannot be taken over for all of its partitions; empty if it can.
  std::string reason_against(const FoundEntry& entry, const ContextDigests& stated,
                             const context::LoadedContext& loaded, uint32_t payload) const {
    for (const CachedPartition& cached : loaded.partitions) {
      if (cached.payload != payload) continue;
      const std::string& name = cached.attributes.partition_name;
      if (!is_same(name, stated)) {
        return formatted("its payload in the entry {} also contains {}, which is not the same now",
                         entry.id(), quote(name));
      }
      const Wanted& wanted = wanted_.at(name);
      if (!wanted.is_open) {
        return formatted("its payload in the entry {} also contains {}, which was taken already",
                         entry.id(), quote(name));
      }
      const std::string& source = cached.attributes.source;
      bridge::Provider& provider = *prepared_.providers[wanted.provider];
      if (!accepts(provider, source)) {
        return formatted("the manifest does not accept the source {} of the entry {}",
                         quote(source), entry.id());
      }
      if (!cached.constants.empty()) {
        return formatted("its context in the entry {} needs constants beside its payload",
                         entry.id());
      }
      const std::string& text = loaded.compatibility_of(loaded.payloads[payload]);
      if (text.empty()) continue;
      const Result<bridge::Compatibility> level = provider.validate(text);
      if (!level.ok() || *level != bridge::Compatibility::kOptimal) {
        return formatted("the provider would rather not load the context of the entry {}",
                         entry.id());
      }
    }
    return {};
  }

  // Returns the number of partitions.
  size_t take_payload(const FoundEntry& entry, const ContextDigests& stated,
                      const context::LoadedContext& loaded, uint32_t payload) {
    std::vector<std::string> names;
    for (const CachedPartition& cached : loaded.partitions) {
      if (cached.payload == payload) names.push_back(cached.attributes.partition_name);
    }
    if (names.empty()) return 0;
    if (const std::string reason = reason_against(entry, stated, loaded, payload);
        !reason.empty()) {
      for (const std::string& name : names) set_reason(name, reason);
      return 0;
    }
    const auto index = static_cast<uint32_t>(prepared_.reused.payloads.size());
    const context::CachedPayload& given = loaded.payloads[payload];
    prepared_.reused.payloads.push_back({given.bytes, given.compatibility});
    for (const CachedPartition& cached : loaded.partitions) {
      if (cached.payload != payload) continue;
      Wanted& wanted = wanted_.at(cached.attributes.partition_name);
      wanted.is_open = false;
      prepared_.reused.partitions[cached.attributes.partition_name] = {wanted.provider,
                                                                       cached.attributes, index};
    }
    log_info(formatted("cache store: {} takes over {} from the entry {}",
                       prepared_.providers[wanted_.at(names.front()).provider]->name(),
                       list_names(names), entry.id()));
    return names.size();
  }

  const context::CacheStore& store_;
  const context::CacheKey& key_;
  const SessionConfig& config_;
  PreparedModel& prepared_;
  std::map<std::string, Wanted> wanted_;  // by partition name
};

}  // namespace

Result<ContextDigests> context_digests(const PreparedModel& prepared,
                                       std::span<const std::string> provider_lines) {
  graph::GraphDigester digester(prepared.model, prepared.cancellation);
  ContextDigests digests;
  for (const PreparedGraph* graph : prepared.graphs()) {
    for (const partition::Partition& partition : graph->partitioning.partitions) {
      if (!prepared.providers[partition.provider]->can_write_context()) continue;
      const graph::Graph seen =
          graph::extract_subgraph(prepared.graph_of(*graph), partition.nodes, partition.name).graph;
      EPHOST_ASSIGN_OR_RETURN(digests[partition.name],
                              digester.digest(seen, provider_lines[partition.provider]));
    }
  }
  return digests;
}

Result<std::vector<FoundEntry>> reuse_contexts(
    const context::CacheStore& store, const context::CacheKey& key, const ContextDigests& digests,
    const SessionConfig& config, std::vector<FoundEntry> related, PreparedModel& prepared) {
  Reuse reuse(store, key, digests, config, prepared);
  std::vector<FoundEntry> used;
  for (FoundEntry& entry : related) {
    if (reuse.is_complete()) break;
    EPHOST_ASSIGN_OR_RETURN(const bool has_given, reuse.take_from(entry));
    if (has_given) used.push_back(std::move(entry));
  }
  reuse.report();
  return used;
}

}  // namespace ephost::session
