#include "host/layers/trace/trace_file.h"

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "host/base/files/file_descriptor.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::layers {
namespace {

constexpr size_t kCollected = size_t{64} << 10;

class TraceFile {
 public:
  // Writes to standard error if `file` is not open.
  TraceFile(FileDescriptor file, bool until_crash)
      : file_(std::move(file)), until_crash_(until_crash) {}
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() { flush(); }

  void write(std::string_view line) {
    lines_ += line;
    if (until_crash_ || lines_.size() >= kCollected) flush();
  }

 private:
  // What the disk has no room for is lost.
  void flush() {
    static_cast<void>(write_all(file_.is_open() ? file_.get() : kStandardError, lines_));
    lines_.clear();
  }

  const FileDescriptor file_;
  const bool until_crash_;
  std::string lines_;
};

}  // namespace

Result<std::function<void(std::string_view line)>> open_trace(const std::filesystem::path& file,
                                                              bool until_crash) {
  FileDescriptor opened;
  if (!file.empty()) {
    opened = open_for_appending(file);
    if (!opened.is_open()) {
      return Status(StatusCode::kFail,
                    formatted("cannot open {} for the trace: {}; name a file that can be written",
                              quote(file.native()), std::generic_category().message(errno)));
    }
  }
  auto trace = std::make_shared<TraceFile>(std::move(opened), until_crash);
  return std::function<void(std::string_view)>(
      [trace = std::move(trace)](std::string_view line) { trace->write(line); });
}

}  // namespace ephost::layers
