// The report of a check of a context model.
#pragma once

#include <ephost/types/session_options.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ephost {

struct VerifyContextOptions {
  // Otherwise files are looked for, but not read.
  bool compare_checksums = true;
  enum class Providers {
    kIgnore,
    kFind,  // one must be installed that accepts the model, by its manifest
    kAsk,   // load its plugin too, and ask whether it can load what the model holds
  };
  Providers providers = Providers::kAsk;
  // With kAsk: the id of a device to judge for, which need not be present if its provider can
  // compile for it. A provider that has no such device is asked about those that a session would
  // use, as all are if this is empty.
  std::string device;
  // The model is checked against these providers, which are found and asked as by a session that
  // requests them, and against the CPU provider, which every session has. Not set: against all that
  // are installed.
  std::optional<std::vector<ProviderRequest>> requests = {};
  // Configuration entries of that session, whose policies hold here too: where plugins run, which
  // signatures they need, when they are quarantined.
  OptionList session_entries = {};
};

// An EPContext node.
struct ContextNodeReport {
  std::string description;  // of the node; in a nested graph with the path of that graph
  std::string partition_name;
  std::string source;
  bool main_context = true;  // it has a payload; otherwise that of `primary` serves
  bool embedded = true;
  std::string primary;  // partition_name of the node with the payload
  std::string file;     // of the payload, as given in the model; empty: embedded
  std::optional<uint64_t> payload_bytes;
  std::string checksum;  // of the payload: "ok", "missing file", ...
  std::string sdk_version;
  std::string hardware_architecture;
};

// The nodes of one `source` whose payloads have the same compatibility.
struct ContextSourceReport {
  std::string source;
  std::string compatibility;  // as given in the model
  std::string provider;       // that accepts the source; empty: none is installed
  std::string verdict;        // "optimal", "unsupported", ...
};

struct ContextReport {
  std::vector<ContextNodeReport> nodes;
  std::vector<ContextSourceReport> sources;  // none with Providers::kIgnore
  std::vector<std::string> problems;         // why it cannot be loaded, one sentence each
  std::vector<std::string> unchecked;        // payloads and files without a stated checksum
  // A session refuses the model if something is unchecked, as this host wrote it with checksums.
  bool needs_checksums = false;
  // "signed by KEY (NAME)", "unsigned", "not trusted" or "revoked"; see EnvironmentOptions, whose
  // policy decides whether this is a problem. Empty without EPContext nodes.
  std::string signature = {};
  std::string signature_problem = {};  // what keeps the signature from counting; may be empty
  // The external files that the model uses and the specialised models that it lists, by the names
  // that it has for them.
  std::vector<std::string> files = {};
  std::vector<std::string> specialized_models = {};
};

}  // namespace ephost
