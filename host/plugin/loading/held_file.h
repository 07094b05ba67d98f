// A file that is not changed in place while the object lives, so that what was checked is what is
// loaded. Called by the registry; guarded_load.h notices when the file is replaced by another one.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "host/base/files/file.h"

namespace ephost::plugin {

class HeldFile {
 public:
  // Takes a read lease on the file and maps it. A process that opens the file for writing, or
  // truncates it, has to wait until the object is destroyed, or for the time in
  // /proc/sys/fs/lease-break-time, by default 45 seconds. Many processes can hold one file.
  //
  // EP_FAIL if a process has it open for writing for longer than two seconds. There is no lease on
  // a file that neither belongs to this user nor may be changed by anybody but its owner, nor on
  // file systems without leases (network file systems): such files are only mapped. Other failures
  // are those of MappedFile::open.
  static Result<HeldFile> open(const std::filesystem::path& path);

  HeldFile(HeldFile&& other) noexcept;
  HeldFile& operator=(HeldFile&&) = delete;
  ~HeldFile();

  [[nodiscard]] const MappedFile& file() const { return file_; }
  // Whether somebody other than root and this user could write into the file when it was opened.
  // Where others cannot, it does not matter whether there is a lease.
  [[nodiscard]] bool is_shared() const { return is_shared_; }
  // Whether it is certain that the file was not changed since it was opened: there is a lease, its
  // file system knows every process that could write, and no writer has waited for so long that the
  // kernel may have let it through.
  [[nodiscard]] bool is_held() const;
  // Leaves the object without a file; it keeps the lease.
  [[nodiscard]] MappedFile take_file() { return std::move(file_); }
  // Lets writers continue; the file stays mapped.
  void release();

 private:
  HeldFile(MappedFile file, int lease, std::chrono::steady_clock::time_point opened);

  MappedFile file_;
  int lease_ = -1;  // a descriptor; it has the lease, if there is one, for as long as it is open
  std::chrono::steady_clock::time_point opened_;
  bool is_shared_;
  bool has_lease_;
};

}  // namespace ephost::plugin
