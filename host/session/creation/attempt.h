// One of several attempts at creating a session or compiling a model: where a worker ends, another
// one follows, as session.on_crash says (living_workers.h).
#pragma once

#include <ephost/status.h>

#include <memory>
#include <vector>

#include "host/context/write/writer.h"
#include "host/session/model/prepared_model.h"
#include "host/session/plugins/provider_workers.h"

namespace ephost::session {

struct Attempt {
  std::shared_ptr<ProviderWorkers> workers;  // see PipelineHooks
  std::vector<LostProvider> lost;            // the same
  // The files that the attempts wrote, borrowed: a later one may replace those of an earlier one.
  std::vector<context::WrittenFile>& written;
};

}  // namespace ephost::session
