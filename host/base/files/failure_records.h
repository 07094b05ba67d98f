// Records of crashes and hangs of plugins, in a small file that all processes of a user share. What
// follows from that is decided elsewhere (host/plugin/quarantine.h); the command `quarantine` shows
// and clears the records.
//
// The file is text: a first line "ephost failures 1", then a line for each failure, oldest first,
// with the fields of FailureRecord separated by tabs. '%', tabs and control characters are written
// as '%' and two hexadecimal digits. Lines that are not like that are ignored.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {

struct FailureRecord {
  int64_t time = 0;      // in seconds since 1970 of the system's clock
  std::string name;      // of the provider or layer, as its manifest says: "acme"
  std::string manifest;  // path
  std::string files;     // which version of its files it was; any text
  std::string what;      // "died of SIGSEGV in compute"
  std::string program;   // in which it happened: program_of_process; the field before `what`
};

// The program that this process runs, with the script if it runs one: "/usr/bin/python3.11 app.py",
// and the number of the process.
[[nodiscard]] std::string program_of_process();

// Safe from any thread; different processes may use one file at once.
class FailureRecords {
 public:
  static constexpr size_t kMostRecords = 256;
  static constexpr size_t kMostBytes = size_t{256} * 1024;
  static constexpr size_t kMostText = 512;  // bytes of `what`; longer texts are cut off
  static constexpr std::string_view kFirstLine = "ephost failures 1";

  // The file need not exist. If `file` is empty, nothing is recorded.
  explicit FailureRecords(std::filesystem::path file) : file_(std::move(file)) {}

  // "failures" in $XDG_STATE_HOME/ephost; without that variable in /var/lib/ephost for root and in
  // ~/.local/state/ephost for others. Empty if the environment names no such folder; a privileged
  // process ignores the environment.
  [[nodiscard]] static std::filesystem::path default_file();

  struct Content {
    std::vector<FailureRecord> records;  // oldest first, and the newest of too many
    std::string problem;                 // why some or all of the file was ignored; or empty
  };
  // A missing file has no records. A file that others may change (host/base/files/ownership.h), or
  // that is too large, is ignored.
  [[nodiscard]] Content read() const;

  // Adds a record and drops the oldest ones that are too many. Creates the folder, for this user
  // alone. Fails where the folder cannot be written, or others have it locked for more than five
  // seconds.
  [[nodiscard]] Status add(FailureRecord record) const;

  // Removes the records of the plugins whose name is `name`, all if that is empty, and returns how
  // many there were. Failures as for `add`.
  [[nodiscard]] Result<size_t> remove(std::string_view name) const;

  // Drops the oldest records of a file that has too many, as crashes only add theirs
  // (prepared_failure.h).
  [[nodiscard]] Status shorten() const;

  // The line of a record in the file.
  [[nodiscard]] static std::string line_of(const FailureRecord& record);
  // The file on which writers have a lock (flock). It is never replaced.
  [[nodiscard]] std::filesystem::path lock_file() const { return file_.native() + ".lock"; }

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  [[nodiscard]] Status write(const std::vector<FailureRecord>& records) const;

  std::filesystem::path file_;
};

}  // namespace ephost
