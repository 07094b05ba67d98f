// A process of the conformance kit: started in a process group of its own, watched, and ended with
// everything that it started.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/base/files/file_descriptor.h"
#include "host/base/processes/process.h"

namespace ephost::cli {

// How a process ended.
struct ChildEnd {
  ProcessEnd process;
  bool is_late = false;         // its deadline passed, and it was killed
  bool left_processes = false;  // some that it started were still there, and were killed
  std::string answer;           // what it wrote to descriptor 3
  std::string output;  // of standard output and error, without its middle if it is very long
  std::chrono::duration<double> duration{};
};

// Text of which the first and the last bytes are kept.
class BoundedText {
 public:
  void append(std::string_view text);
  [[nodiscard]] std::string text() const;

 private:
  std::string first_;
  std::string last_;
  size_t left_out_ = 0;
};

class Child {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts argv[0], a path, in a working folder. Descriptor 3 of the process is for its answer.
  [[nodiscard]] static Result<Child> start(std::vector<std::string> argv,
                                           const std::filesystem::path& folder,
                                           std::chrono::seconds deadline);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  // Kills what still runs.
  ~Child();

  // The descriptors to be polled before `update`.
  void watch(std::vector<int>& watched) const;
  // Reads what there is. The end, once the process has ended or its deadline has passed.
  [[nodiscard]] std::optional<ChildEnd> update();

 private:
  Child() = default;
  void read_all();
  [[nodiscard]] ChildEnd finish(const ProcessEnd& process);
  bool end_group();

  ProcessId pid_ = -1;  // -1: ended, or moved away
  FileDescriptor output_;
  FileDescriptor answer_;
  Clock::time_point start_;
  Clock::time_point end_;
  bool is_late_ = false;
  BoundedText output_text_;
  BoundedText answer_text_;
};

// While it lives, processes whose parents have ended become children of this process, which can
// then end them. There may be one object at a time.
class OrphanKeeper {
 public:
  OrphanKeeper();
  OrphanKeeper(const OrphanKeeper&) = delete;
  OrphanKeeper& operator=(const OrphanKeeper&) = delete;
  // Kills those that are left.
  ~OrphanKeeper();
};

}  // namespace ephost::cli
