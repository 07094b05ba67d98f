#include "host/layers/trace/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::layers {
namespace {

constexpr size_t kCollected = size_t{64} << 10;

class TraceFile {
 public:
  TraceFile(int descriptor, bool until_crash)
      : descriptor_(descriptor), until_crash_(until_crash) {}
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() {
    flush();
    if (descriptor_ != STDERR_FILENO) ::close(descriptor_);
  }

  void write(std::string_view line) {
    lines_ += line;
    if (until_crash_ || lines_.size() >= kCollected) flush();
  }

 private:
  // What the disk has no room for is lost.
  void flush() {
    std::string_view rest = lines_;
    while (!rest.empty()) {
      const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;
      rest.remove_prefix(static_cast<size_t>(written));
    }
    lines_.clear();
  }

  const int descriptor_;
  const bool until_crash_;
  std::string lines_;
};

}  // namespace

Result<std::function<void(std::string_view line)>> open_trace(const std::filesystem::path& file,
                                                              bool until_crash) {
  int descriptor = STDERR_FILENO;
  if (!file.empty()) {
    descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      return Status(StatusCode::kFail,
                    formatted("cannot open {} for the trace: {}; name a file that can be written",
                              quote(file.native()), std::generic_category().message(errno)));
    }
  }
  auto trace = std::make_shared<TraceFile>(descriptor, until_crash);
  return std::function<void(std::string_view)>(
      [trace = std::move(trace)](std::string_view line) { trace->write(line); });
}

}  // namespace ephost::layers
