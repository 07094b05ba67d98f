// Records of what plugins offered when they last ran in a worker, so that they need not run again
// to tell: one file for each plugin, isolation and rule for the libraries beside it
// (IsolationOptions::listed_only) in a folder of the user's cache. A record counts for a day at
// most, and only as long as everything that it depends on is the same: the host and its program for
// workers, the manifest, the library and the files that the manifest lists (device, inode, size,
// times), the boot of the system, the devices in its lists of PCI, USB, graphics and compute
// devices, and the environment, as drivers read variables such as CUDA_VISIBLE_DEVICES. A file that
// changed within two seconds is not trusted to show its next change, as in
// base/files/known_checksums.h.
//
// A plugin that could not be loaded has a record of that if it is the plugin's own failure: not one
// of the system, or of limits that a user has set. From it, `list` knows that a selection will
// pass over the plugin; it is loaded again whenever it is to run.
//
// A file is a line "ephost plugin 1", a line with the checksum of the rest, what it depends on with
// its size before it, and the description (description_codec.h). It is replaced as a whole, so that
// processes need no lock. One that others may change, that is damaged or of another version is not
// used. No function fails: what cannot be read or written is not known.
#pragma once

#include <ephost/status.h>
#include <ephost/types/plugin_description.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "host/manifest/search.h"
#include "host/worker/tables/isolation.h"

namespace ephost::session {

class PluginRecords {
 public:
  static constexpr int64_t kLongestSeconds = int64_t{24} * 3600;

  // Records of no plugin.
  PluginRecords() = default;
  // With an empty path, too. The folder is created when something is recorded.
  explicit PluginRecords(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // "ephost/plugins" in $XDG_CACHE_HOME, or else in /var/cache for root and in ~/.cache for others;
  // empty where the environment tells no such folder, and in a privileged process.
  [[nodiscard]] static std::filesystem::path default_folder();

  // A plugin as it is now.
  struct Subject {
    std::filesystem::path file;  // of its record; empty: there is to be none
    std::string dependencies;    // what a record has to agree with
    bool is_settled = false;     // its files changed long enough ago to be recorded
  };
  // As it is loaded with these options, which have the program of the worker.
  [[nodiscard]] Subject subject_of(const manifest::FoundPlugin& plugin,
                                   const worker::IsolationOptions& options) const;

  // What the plugin said, with the time as its `recorded_time`, without what its manifest says; or
  // why it could not be loaded.
  [[nodiscard]] std::optional<Result<PluginDescription>> find(const Subject& subject) const;

  // `subject` was taken before the plugin ran, and `now` after that. Only what was the same
  // before and after is recorded.
  void remember(const Subject& subject, const Subject& now,
                const Result<PluginDescription>& description) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ephost::session
