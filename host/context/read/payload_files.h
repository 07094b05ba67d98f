// The payloads of EPContext nodes in files, compared with their stated checksums. Used only by
// the examination.
#pragma once

#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ephost/status.h"
#include "host/context/metadata.h"
#include "host/context/read/loader.h"

namespace ephost::context {

// Result of comparing some content with its stated checksum.
enum class ChecksumState {
  kOk,
  kMismatch,
  kNotStated,    // no checksum is stated, or LoadOptions::verify_checksums is off
  kMissingFile,  // or an unreadable one
  kRefusedPath,
  kUnknown,  // the node could not be read, or has no primary
};

struct Content {
  graph::Blob bytes;  // as found, even if the checksum is wrong
  ChecksumState state = ChecksumState::kUnknown;
  Status status;  // INVALID_GRAPH with the reason; does not name the node
};

// Bytes whose checksum is computed at most once.
struct ChecksummedBytes {
  graph::Blob bytes;
  bool release_pages = false;  // while the checksum is computed
  KnownChecksums known;        // may make computing it unnecessary
  std::optional<Hash128> hash;
  Cancellation cancellation = {};  // of computing it; counts as a mismatch
};

// Compares with `stated`, unless that is null. `what` names the bytes in messages.
[[nodiscard]] Content check_content(ChecksummedBytes& found, const ContentChecksum* stated,
                                    std::string_view what);

// Returns the bytes with an owner and aligned to kPayloadAlignment; copies them only if necessary.
// OUT_OF_MEMORY if memory runs out.
[[nodiscard]] Result<graph::Blob> align_payload(graph::Blob bytes);

// Opens each file only once, however its path is spelled.
class PayloadFiles {
 public:
  // Both outlive the object. Without `folder`, only LoadOptions::files exist.
  PayloadFiles(const LoadOptions& options, const std::optional<std::filesystem::path>& folder)
      : options_(options), folder_(folder) {}

  // The content of the file `name`.
  Content find_current(const std::string& name, const ContentChecksum* stated);

  // The payload of that name: from LoadOptions::read_payload if set, else as find_current returns
  // it, or its superseded form if only that has the stated checksum.
  const Content& find(const std::string& name, const ContentChecksum* stated);

  // The content of the superseded form of the file.
  Content find_superseded(const std::string& name, const ContentChecksum& stated);

  // From now on, compares the checksums of large files in background threads. They count as right;
  // the futures of `take_pending_checksums` tell.
  void defer_checksums() { defers_checksums_ = true; }
  [[nodiscard]] std::vector<std::future<Status>> take_pending_checksums() {
    return std::move(pending_checksums_);
  }

  // check_content, in a background thread if that is worth it and checksums are deferred.
  Content check(ChecksummedBytes& found, const ContentChecksum* stated, const std::string& what);

 private:
  Content open(const std::string& name, const ContentChecksum* stated);
  Content read(const std::string& name, const ContentChecksum* stated) const;

  const LoadOptions& options_;
  const std::optional<std::filesystem::path>& folder_;
  std::map<std::string, Content> by_name_;
  std::map<std::pair<uint64_t, uint64_t>, ChecksummedBytes> mapped_;  // by device and inode
  bool defers_checksums_ = false;
  std::vector<std::future<Status>> pending_checksums_;
};

}  // namespace ephost::context
