#include "host/base/files/known_checksums.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/environment.h"
#include "host/base/files/file.h"
#include "host/base/files/folders/directory.h"
#include "host/base/files/mapped_pages.h"
#include "host/base/files/private_files.h"

namespace ephost {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kSettledAfter = 2'000'000'000;  // nanoseconds
constexpr size_t kMaxRecords = 4096;

// Inode numbers and times may repeat on other disks after a reboot.
const std::string& boot_id() {
  static const std::string id = [] {
    Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id", 64);
    return text.ok() ? std::move(*text) : std::string();
  }();
  return id;
}

std::string record_name(const MappedRange& range) {
  const FileVersion& file = range.file;
  std::string text = boot_id();
  for (const uint64_t part :
       {file.device, file.inode, file.size, static_cast<uint64_t>(file.modified),
        static_cast<uint64_t>(file.changed), range.offset, range.size}) {
    text += ' ' + std::to_string(part);
  }
  return to_hex(content_checksum(as_bytes(text)));
}

std::optional<MappedRange> recordable_range(std::span<const std::byte> bytes) {
  if (bytes.size() < kLargeFile || boot_id().empty()) return std::nullopt;
  const auto range = find_mapped_range(bytes);
  return range && range->file.is_steady ? range : std::nullopt;
}

}  // namespace

KnownChecksums::KnownChecksums(fs::path folder) : folder_(std::move(folder)) {}

fs::path KnownChecksums::default_folder() {
  const fs::path runtime = environment_folder("XDG_RUNTIME_DIR");
  return runtime.empty() ? runtime : runtime / "ephost" / "checksums";
}

bool KnownChecksums::is_safe() const {
  struct stat info {};
  return ::lstat(folder_.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<Hash128> KnownChecksums::find(std::span<const std::byte> bytes) const {
  if (folder_.empty()) return std::nullopt;
  const auto range = recordable_range(bytes);
  if (!range || !is_safe()) return std::nullopt;
  const Result<std::string> record = read_file(folder_ / record_name(*range), 64);
  return record.ok() ? parse_hash128(*record) : std::nullopt;
}

void KnownChecksums::remember(std::span<const std::byte> bytes, const Hash128& checksum) const {
  if (folder_.empty()) return;
  const auto range = recordable_range(bytes);
  if (!range || range->file.opened - range->file.changed < kSettledAfter) return;
  if (!make_private_folders(folder_).ok() || !is_safe()) return;
  make_room();
  static_cast<void>(write_file_atomically(folder_ / record_name(*range), as_bytes(to_hex(checksum)),
                                          private_file_system()));
}

// Records of versions that no longer exist are never looked up again. All records are deleted at
// once: those that still matter are recreated by the next load.
void KnownChecksums::make_room() const {
  std::error_code ignored;
  const std::vector<std::string> records = list_directory(folder_, ignored);
  if (records.size() < kMaxRecords) return;
  for (const std::string& record : records) {
    if (parse_hash128(record)) fs::remove(folder_ / record, ignored);
  }
}

Hash128 KnownChecksums::checksum_of(std::span<const std::byte> bytes) const {
  return *checksum_of(bytes, Cancellation());
}

Result<Hash128> KnownChecksums::checksum_of(std::span<const std::byte> bytes,
                                            const Cancellation& cancellation) const {
  if (const auto known = find(bytes)) return *known;
  const std::optional<Hash128> checksum = content_checksum(bytes, cancellation);
  if (!checksum) return cancellation.check();
  remember(bytes, *checksum);
  return *checksum;
}

}  // namespace ephost
