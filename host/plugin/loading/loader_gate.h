// A file that the system's loader waits for when it opens it, until it is decided what it reads.
// Used by guarded_load.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace ephost::plugin {

// Makes as many of the files below in advance, for a process that may make none later. Their size
// is fixed, so that they are of no other use.
void reserve_memory_files(size_t count);

// A file in memory, which is gone when the last descriptor of it is closed.
class MemoryFile {
 public:
  MemoryFile();
  MemoryFile(MemoryFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile();

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  // The path at which only this process finds it.
  [[nodiscard]] std::string path() const;
  // False if not all was written.
  [[nodiscard]] bool write(const std::string& bytes) const;

 private:
  int descriptor_;
};

class LoaderGate {
 public:
  // Nothing where the system grants no lease.
  static std::optional<LoaderGate> make();

  LoaderGate(LoaderGate&& other) noexcept
      : file_(std::move(other.file_)), lease_(std::exchange(other.lease_, -1)) {}
  LoaderGate& operator=(LoaderGate&&) = delete;
  ~LoaderGate();

  // Opening this path blocks until `open` is called.
  [[nodiscard]] std::string path() const { return file_.path(); }
  [[nodiscard]] bool has_waiter() const;
  // What the waiter will read; nothing, if it is not called or fails.
  bool fill(const std::string& bytes) const { return file_.write(bytes); }
  void open() const;

 private:
  LoaderGate(MemoryFile file, int lease) : file_(std::move(file)), lease_(lease) {}

  MemoryFile file_;
  int lease_;  // a descriptor
};

}  // namespace ephost::plugin
