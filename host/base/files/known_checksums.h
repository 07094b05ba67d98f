// Checksums of mapped files that this process or another one computed before, so that a large file
// is read once and not at every start. A record describes one version of a file: device, inode,
// size, mtime, ctime, and the boot id of the system. The kernel advances the ctime with every
// change, and no program can set it back. The exception is a file that is mapped for writing: it is
// neither recorded nor looked up (host/base/files/steady_file.h). A file that changed less than two
// seconds before it was opened is not recorded, because a further change could get the same time
// (git's index has the same rule for the same reason).
//
// A record cannot reveal damage below the file system that happened since the boot. To find such
// damage, compute the checksum again, as `ephost verify` does.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "host/base/hash.h"

namespace ephost {

class KnownChecksums {
 public:
  // An empty store that records nothing.
  KnownChecksums() = default;
  // Records are small files in `folder`, which is created when the first one is written. A folder
  // that anyone but its owner, who must be this user, can write to is ignored.
  explicit KnownChecksums(std::filesystem::path folder);

  // Returns "$XDG_RUNTIME_DIR/ephost/checksums", which only the user can write to and which
  // disappears at logout. Empty if the variable is not set, or in a privileged process.
  [[nodiscard]] static std::filesystem::path default_folder();

  // Returns the recorded checksum of `bytes`, which are all or part of a MappedFile, if there is a
  // record for this version of the file. Safe from any thread, as are all functions below.
  [[nodiscard]] std::optional<Hash128> find(std::span<const std::byte> bytes) const;

  // Records the checksum of `bytes`, which was computed after they were mapped. Bytes that are not
  // in a MappedFile, or that are too few to be worth a record, are ignored, and so are failures.
  void remember(std::span<const std::byte> bytes, const Hash128& checksum) const;

  // Returns what `find` knows, or computes the checksum now and records it.
  [[nodiscard]] Hash128 checksum_of(std::span<const std::byte> bytes) const;
  // The same; returns CANCELLED or DEADLINE_EXCEEDED once cancellation is requested.
  [[nodiscard]] Result<Hash128> checksum_of(std::span<const std::byte> bytes,
                                            const Cancellation& cancellation) const;

 private:
  [[nodiscard]] bool is_safe() const;
  void make_room() const;

  std::filesystem::path folder_;
};

}  // namespace ephost
