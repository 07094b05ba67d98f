// The part of a compiled model that is kept until its contexts are written, which for the models of
// a group its last session does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/bridge/computation.h"
#include "host/bridge/provider.h"
#include "host/context/write/writer.h"
#include "host/graph/graph.h"

namespace ephost::session {

// What a provider has compiled earlier, of an entry of the cache store.
struct ReusedPayload {
  graph::Blob bytes;
  std::string compatibility;  // a text of its own; may be empty
};

// A compiled partition, and what is needed to write its context.
struct CompiledNode {
  std::shared_ptr<bridge::Provider> provider;
  bridge::Computation computation;  // shared with the session
  context::WrittenPartition
      partition;  // without the attributes that the provider sets, if not reused
  std::map<std::string, graph::ValueId, std::less<>> constants;  // that the partition reads
  bool drops_constants = false;                                  // EPH_CLAIM_DROP_CONSTANTS
  // The payload that it was restored from and that is copied, an index into
  // CompiledModel::reused_payloads; nullopt for what was compiled.
  std::optional<uint32_t> reused_payload = std::nullopt;
};

// A compiled model whose context is to be written.
struct CompiledModel {
  context::WriteOptions options;
  graph::Model model;
  std::vector<CompiledNode> nodes;  // of providers that can write a context
  std::vector<ReusedPayload> reused_payloads = {};
};

}  // namespace ephost::session
