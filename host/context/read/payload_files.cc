#include "host/context/read/payload_files.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "host/base/files/containment/contained_path.h"
#include "host/base/files/containment/hub_cache.h"
#include "host/base/files/file.h"
#include "host/base/files/mapped_pages.h"
#include "host/base/format.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"
#include "host/context/file_names.h"

namespace ephost::context {

using graph::Blob;

namespace {

constexpr std::string_view kPayloadRemedy =
    "; put the file that was written with the model there, or "
    "compile the source model again";

Content failed(ChecksumState state, std::string message) {
  return {.state = state, .status = Status(StatusCode::kInvalidGraph, std::move(message))};
}

Content mismatch(const ChecksummedBytes& found, std::string message) {
  Content content = failed(ChecksumState::kMismatch, std::move(message));
  content.bytes = found.bytes;
  return content;
}

bool is_aligned(const std::byte* address) {
  return reinterpret_cast<uintptr_t>(address) % kPayloadAlignment == 0;
}

std::optional<Hash128> checksum_and_release(std::span<const std::byte> bytes,
                                            const Cancellation& cancellation) {
  constexpr size_t kPiece = size_t{16} << 20;
  ContentHasher hasher;
  for (size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    if (cancellation.is_requested()) return std::nullopt;
    const auto piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
    hasher.update(piece);
    release_pages(piece);
  }
  return hasher.checksum();
}

// A remembered checksum can only confirm the stated one; before anything is refused, the checksum
// is computed.
bool is_known_as(const ChecksummedBytes& found, const Hash128& stated) {
  return found.known.find(found.bytes.bytes) == stated;
}

void take_checksum(ChecksummedBytes& found, const Hash128& stated) {
  if (found.hash) return;
  if (is_known_as(found, stated)) {
    found.hash = stated;
    return;
  }
  const std::optional<Hash128> checksum =
      found.release_pages ? checksum_and_release(found.bytes.bytes, found.cancellation)
                          : content_checksum(found.bytes.bytes, found.cancellation);
  found.hash = checksum.value_or(Hash128());
  if (checksum) found.known.remember(found.bytes.bytes, *checksum);
}

}  // namespace

Content check_content(ChecksummedBytes& found, const ContentChecksum* stated,
                      std::string_view what) {
  if (!stated) return {.bytes = found.bytes, .state = ChecksumState::kNotStated};
  if (found.bytes.bytes.size() != stated->size) {
    return mismatch(found, formatted("{} has {} bytes, but the model states {}{}", what,
                                     found.bytes.bytes.size(), stated->size, kPayloadRemedy));
  }
  take_checksum(found, stated->hash);
  if (*found.hash != stated->hash) {
    return mismatch(found,
                    formatted("{} has the checksum {}, but the model states {}: it is "
                              "damaged or belongs to another compilation{}",
                              what, to_hex(*found.hash), to_hex(stated->hash), kPayloadRemedy));
  }
  return {.bytes = found.bytes, .state = ChecksumState::kOk};
}

Result<Blob> align_payload(Blob bytes) {
  if (bytes.bytes.empty()) return Blob{};
  if (bytes.owner && is_aligned(bytes.bytes.data())) return bytes;
  const size_t size = bytes.bytes.size();
  constexpr std::align_val_t kAlignment{kPayloadAlignment};
  void* memory = ::operator new(size, kAlignment, std::nothrow);
  if (!memory) {
    return Status(StatusCode::kOutOfMemory,
                  formatted("cannot allocate {} bytes for an embedded payload; "
                            "write payloads to files (embed mode 0)",
                            size));
  }
  const std::shared_ptr<void> owner(memory,
                                    [](void* address) { ::operator delete(address, kAlignment); });
  std::memcpy(memory, bytes.bytes.data(), size);
  return Blob{.bytes = {static_cast<const std::byte*>(memory), size}, .owner = owner};
}

Content PayloadFiles::find_current(const std::string& name, const ContentChecksum* stated) {
  const ContentChecksum* compared = options_.verify_checksums ? stated : nullptr;
  if (const auto given = options_.files.find(name); given != options_.files.end()) {
    ChecksummedBytes found{.bytes = given->second,
                           .release_pages = options_.release_pages,
                           .known = options_.known_checksums,
                           .cancellation = options_.cancellation};
    return check_content(found, compared, "file " + quote(name));
  }
  if (folder_) return open(name, compared);
  return failed(ChecksumState::kMissingFile,
                "the model comes from memory, so that the folder of file " + quote(name) +
                    " is not known; set ep.context_file_path");
}

Content PayloadFiles::find_superseded(const std::string& name, const ContentChecksum& stated) {
  if (!folder_) return {};
  return open(superseded_name(name, to_hex(stated.hash)), &stated);
}

const Content& PayloadFiles::find(const std::string& name, const ContentChecksum* stated) {
  const auto known = by_name_.find(name);
  if (known != by_name_.end()) return known->second;
  if (options_.read_payload) {
    return by_name_.emplace(name, read(name, options_.verify_checksums ? stated : nullptr))
        .first->second;
  }
  Content content = find_current(name, stated);
  if (!content.status.ok() && content.state != ChecksumState::kRefusedPath && stated) {
    Content superseded = find_superseded(name, *stated);
    if (superseded.state == ChecksumState::kOk) content = std::move(superseded);
  }
  return by_name_.emplace(name, std::move(content)).first->second;
}

// The name need not be a path, but the function may use it as one, so the rules of paths apply.
Content PayloadFiles::read(const std::string& name, const ContentChecksum* stated) const {
  if (const std::string_view refusal = refusal_of_path(name); !refusal.empty()) {
    return failed(ChecksumState::kRefusedPath,
                  formatted("the name {} is refused: {}", quote(name), refusal));
  }
  Result<Blob> given = options_.read_payload(name);
  if (given.ok()) given = align_payload(std::move(given).value());
  if (!given.ok()) {
    if (is_circumstance(given.status())) {
      return {.state = ChecksumState::kMissingFile,
              .status = std::move(given).status().with_context("reading " + quote(name))};
    }
    return failed(ChecksumState::kMissingFile,
                  formatted("the application cannot give the content of {}: {}", quote(name),
                            given.status().to_string()));
  }
  ChecksummedBytes found{.bytes = std::move(given).value(), .cancellation = options_.cancellation};
  return check_content(found, stated, "what the application gives as " + quote(name));
}

Content PayloadFiles::open(const std::string& name, const ContentChecksum* stated) {
  const Result<InputFile> file = open_contained(*folder_, name, StatusCode::kInvalidGraph,
                                                *options_.file_system, hub_folders_of(*folder_));
  if (!file.ok()) {
    const bool refused = file.status().code() == StatusCode::kInvalidGraph;
    return failed(refused ? ChecksumState::kRefusedPath : ChecksumState::kMissingFile,
                  file.status().message() + std::string(refused ? "" : kPayloadRemedy));
  }
  const auto identity = std::pair(file->version().device, file->version().inode);
  auto found = mapped_.find(identity);
  if (found == mapped_.end()) {
    Result<MappedFile> mapping = MappedFile::map(*file);
    if (!mapping.ok()) {
      return failed(ChecksumState::kMissingFile,
                    mapping.status().message() + std::string(kPayloadRemedy));
    }
    const auto owner = std::make_shared<const MappedFile>(std::move(*mapping));
    ChecksummedBytes mapped{.bytes = {.bytes = owner->bytes(), .owner = owner},
                            .release_pages = options_.release_pages,
                            .known = options_.known_checksums,
                            .cancellation = options_.cancellation};
    found = mapped_.emplace(identity, std::move(mapped)).first;
  }
  return check(found->second, stated, "file " + quote(file->path().native()));
}

Content PayloadFiles::check(ChecksummedBytes& found, const ContentChecksum* stated,
                            const std::string& what) {
  constexpr size_t kWorthAThread = size_t{4} << 20;
  const bool defers = defers_checksums_ && stated && !found.hash &&
                      found.bytes.bytes.size() == stated->size && stated->size >= kWorthAThread &&
                      !is_known_as(found, stated->hash);
  if (!defers) return check_content(found, stated, what);
  try {
    pending_checksums_.push_back(
        std::async(std::launch::async, [own = found, checksum = *stated, what]() mutable {
          return check_content(own, &checksum, what).status;
        }));
  } catch (const std::system_error&) {  // no thread can be started
    return check_content(found, stated, what);
  }
  found.hash = stated->hash;  // compared only once, whatever the result
  return {.bytes = found.bytes, .state = ChecksumState::kOk};
}

}  // namespace ephost::context
