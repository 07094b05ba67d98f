#include "host/cli/options/metrics_file.h"

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/cli/report/output.h"

namespace ephost::cli {
namespace {

constexpr std::string_view kBeginning = "# HELP ephost_";

Status write_metrics(const Environment& environment, const std::filesystem::path& file) {
  EPHOST_ASSIGN_OR_RETURN(const std::string text, environment.prometheus_text());
  return write_file_atomically(file, as_bytes(text));
}

}  // namespace

Status check_metrics_file(const std::filesystem::path& file) {
  std::ifstream existing(file, std::ios::binary);
  std::array<char, kBeginning.size()> begin{};
  existing.read(begin.data(), begin.size());
  const std::string_view found(
      begin.data(), static_cast<size_t>(std::max<std::streamsize>(existing.gcount(), 0)));
  if (found.empty() || found == kBeginning) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("the metrics file {} exists and does not have metrics of ephost; give "
                          "another name, or remove it",
                          quote(file.native())));
}

Result<int> with_metrics_file(const EnvironmentFlags& flags,
                              const std::function<Result<int>()>& work) {
  Result<int> outcome = [&]() -> Result<int> {
    try {
      return work();
    } catch (const std::exception& error) {
      return Status(StatusCode::kFail, error.what());
    }
  }();
  if (flags.metrics_file.empty() || !flags.opened->has_value()) return outcome;
  const Status written = write_metrics(**flags.opened, flags.metrics_file);
  flags.opened->reset();
  if (written.ok()) return outcome;
  if (outcome.ok()) return written;
  log_warning(formatted("the metrics were not written: {}", written.to_string()));
  return outcome;
}

}  // namespace ephost::cli
