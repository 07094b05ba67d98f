// A file that nobody changes in place while the object lives, so that what was checked is what is
// loaded. Called by the registry; whoever replaces the file by another one is found out by
// guarded_load.h.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <utility>

#include "host/base/files/file.h"

namespace ephost::plugin {

class HeldFile {
 public:
  // Takes a read lease on the file and maps it. Whoever opens the file for writing, or truncates
  // it, has to wait until the object is destroyed, or for the time in
  // /proc/sys/fs/lease-break-time, by default 45 seconds. Many processes can hold one file.
  //
  // EP_FAIL if somebody has it open for writing for longer than two seconds. There is no lease on a
  // file that neither belongs to this user nor may be changed by anybody but its owner, nor on file
  // systems without leases (network file systems): such files are only mapped. Other failures are
  // those of MappedFile::open.
  static Result<HeldFile> open(const std::filesystem::path& path);

  HeldFile(HeldFile&& other) noexcept;
  HeldFile& operator=(HeldFile&&) = delete;
  ~HeldFile();

  [[nodiscard]] const MappedFile& file() const { return file_; }
  // Leaves the object without a file; it goes on to hold the lease.
  [[nodiscard]] MappedFile take_file() { return std::move(file_); }
  // Lets writers go on; the file stays mapped.
  void release();

 private:
  HeldFile(MappedFile file, int lease) : file_(std::move(file)), lease_(lease) {}

  MappedFile file_;
  int lease_ = -1;  // a descriptor; it has the lease for as long as it is open
};

}  // namespace ephost::plugin
