// One of several attempts at creating a session or compiling a model: where a worker ends, another
// one follows, as session.on_crash says (living_workers.h).
#pragma once

#include <ephost/status.h>

#include <memory>
#include <vector>

#include "host/context/write/writer.h"
#include "host/session/pipeline/model/prepared_model.h"
#include "host/session/recovery/provider_workers.h"

namespace ephost::session {

struct Attempt {
  std::shared_ptr<ProviderWorkers> workers;  // see PipelineHooks
  std::vector<LostProvider> lost;            // the same
  // The files that the attempts wrote, borrowed: a later one may replace those of an earlier one.
  std::vector<context::WrittenFile>& written;
};

// EP_FAIL if the worker of a provider has ended: what was compiled without it is not what was asked
// for. To be called before that is written.
[[nodiscard]] inline Status check_workers(const PreparedModel& prepared) {
  if (prepared.workers == nullptr) return Status::ok_status();
  const std::vector<LostProvider> lost = prepared.workers->lost();
  return lost.empty() ? Status::ok_status() : lost.front().reason;
}

}  // namespace ephost::session
