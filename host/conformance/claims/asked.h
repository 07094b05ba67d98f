// The claims of the provider on a model, made outside of a session.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "host/conformance/sessions/bench.h"
#include "host/partition/partition.h"
#include "host/session/model/prepared_model.h"

namespace ephost::conformance {

// A model that has been partitioned, and the claims of the provider on its own graph.
struct Asked {
  session::PreparedModel prepared;
  std::vector<partition::Claim> claims;  // of a further question, in the provider's order
  std::chrono::duration<double, std::milli> time{};  // that the further question took
};

// The model is borrowed. Fails as a session does, and where the provider fails to say what it
// claims.
[[nodiscard]] Result<Asked> ask(const Bench& bench, const std::string& model,
                                const SessionOptions& options);

// The claims as text, in alphabetical order: nodes by the name of the first output that they have,
// looked up in `names` where it is in there. With the suggested names of partitions, if asked for.
using Names = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] std::string fingerprint(const Asked& asked, const Names& names = {},
                                      bool with_partition_names = false);

// Why the claim could never be granted, or nothing.
[[nodiscard]] std::string defect_of(const graph::Graph& graph, const partition::Claim& claim);

// Allocations that move whatever is allocated afterwards; they last as long as the object.
class Disturbance {
 public:
  explicit Disturbance(uint64_t seed);

 private:
  std::vector<std::vector<char>> blocks_;
};

}  // namespace ephost::conformance
