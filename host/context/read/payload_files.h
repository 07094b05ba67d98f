// The content that EPContext nodes stand on, found and compared with what the model states of it.
// Used by the examination only.
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

// What became of comparing some content with its stated checksum.
enum class ChecksumState {
  kOk,
  kMismatch,
  kNotStated,    // the model states no checksum, or checksums are not to be checked
  kMissingFile,  // or one that cannot be read
  kRefusedPath,
  kUnknown,  // the node could not be read, or has no primary
};

struct Content {
  graph::Blob bytes;  // as they were found, even if the checksum is wrong
  ChecksumState state = ChecksumState::kUnknown;
  Status status;  // INVALID_GRAPH with the reason, without the node
};

// Bytes whose checksum is taken at most once.
struct ChecksummedBytes {
  graph::Blob bytes;
  bool release_pages = false;  // while the checksum is taken
  KnownChecksums known;        // may spare taking it
  std::optional<Hash128> hash;
  Cancellation cancellation = {};  // of taking it; the bytes are not what was stated then
};

// Compares with `stated`, unless that is null. `what` is how the message speaks of the bytes.
[[nodiscard]] Content check_content(ChecksummedBytes& found, const ContentChecksum* stated,
                                    std::string_view what);

// The same bytes aligned to kPayloadAlignment and with an owner: a copy where they are not. FAIL if
// there is no memory for it.
[[nodiscard]] Result<graph::Blob> align_payload(graph::Blob bytes);

// Opens each file once, however it is spelled.
class PayloadFiles {
 public:
  // Both outlive the object. No `folder`: only LoadOptions::files are there.
  PayloadFiles(const LoadOptions& options, const std::optional<std::filesystem::path>& folder)
      : options_(options), folder_(folder) {}

  // The content of the file `name`.
  Content find_current(const std::string& name, const ContentChecksum* stated);

  // The content of the payload of that name: as LoadOptions::read_payload gives it, else as the
  // function above, or that of its superseded form if only that is what was stated.
  const Content& find(const std::string& name, const ContentChecksum* stated);

  // The content of the file's superseded form.
  Content find_superseded(const std::string& name, const ContentChecksum& stated);

  // From now on, compares the checksums of large files in threads of their own; until
  // `take_pending_checksums` tells, they count as right.
  void defer_checksums() { defers_checksums_ = true; }
  [[nodiscard]] std::vector<std::future<Status>> take_pending_checksums() {
    return std::move(pending_checksums_);
  }

 private:
  Content check(ChecksummedBytes& found, const ContentChecksum* stated, std::string what);
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
