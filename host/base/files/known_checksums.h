// Checksums of mapped files that were computed before, by this process or another one, so that a
// large file is read once and not at each start. A record is for one version of a file: device,
// inode, size, times of the last change of content and of state, and the boot of the system. The
// kernel advances the last time with every change, whoever makes it, and no program can set it
// back; the exception, a file that somebody has mapped for writing, is neither recorded nor looked
// up (host/base/files/steady_file.h). A file that changed less than two seconds before it was
// opened is not recorded, as a further change could bear the same time (git's index has the same
// rule for the same reason).
//
// What a record cannot tell is damage below the file system that happened since the boot. Whoever
// wants to find that computes the checksum, as `ephost verify` does.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "host/base/hash.h"

namespace ephost {

class KnownChecksums {
 public:
  // Knows nothing and remembers nothing.
  KnownChecksums() = default;
  // Records are small files in `folder`, which is made when the first one is written. A folder that
  // others than its owner, who must be this user, can write to is ignored.
  explicit KnownChecksums(std::filesystem::path folder);

  // "$XDG_RUNTIME_DIR/ephost/checksums", where only the user can write and which goes with the
  // login; empty where there is none, or in a privileged process.
  [[nodiscard]] static std::filesystem::path default_folder();

  // The checksum of `bytes`, all or a part of a MappedFile: as it was recorded for the file's
  // version, if it was. Safe from any thread, as is all below.
  [[nodiscard]] std::optional<Hash128> find(std::span<const std::byte> bytes) const;

  // Records the checksum of `bytes`, computed after they were mapped. Bytes from elsewhere, or too
  // few to be worth it, are left alone; whatever fails has no consequence.
  void remember(std::span<const std::byte> bytes, const Hash128& checksum) const;

  // What `find` knows, or else computed now and remembered.
  [[nodiscard]] Hash128 checksum_of(std::span<const std::byte> bytes) const;
  // The same; MODEL_LOAD_CANCELED once that is requested.
  [[nodiscard]] Result<Hash128> checksum_of(std::span<const std::byte> bytes,
                                            const Cancellation& cancellation) const;

 private:
  [[nodiscard]] bool is_safe() const;
  void make_room() const;

  std::filesystem::path folder_;
};

}  // namespace ephost
