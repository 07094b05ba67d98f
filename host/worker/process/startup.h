// The first messages on a worker's main socket: what the host wants, and what became of it. Private
// to this module.
#pragma once

#include <ephost/status.h>

#include <optional>
#include <string>
#include <string_view>

#include "host/worker/process/limits.h"
#include "host/worker/process/sandbox.h"

namespace ephost::worker {

// From the host, with the descriptor of the crash report's memory.
struct StartOrder {
  Limits limits;
  std::optional<SandboxRules> sandbox;
};
[[nodiscard]] std::string encode(const StartOrder& order);
[[nodiscard]] Result<StartOrder> decode_order(std::string_view bytes);

// From the worker, with the descriptor by which threads are asked for if their number is limited
// (resource_filter.h). The host does not trust it.
struct ReadyReport {
  std::string failure;  // why limits or sandbox could not be applied; empty: the worker is ready
  SandboxReport sandbox;
};
[[nodiscard]] std::string encode(const ReadyReport& report);
// Texts are made printable, and their number and sizes are bounded.
[[nodiscard]] Result<ReadyReport> decode_report(std::string_view bytes);

}  // namespace ephost::worker
