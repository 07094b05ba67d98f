// Puts several finished files under their names as one step: until `publish_last` succeeds, every
// failure brings the old files back; after a crash the old ones are still there under their
// superseded names (file_names.h), which the loader knows. Used by the writer only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/base/files/file.h"
#include "host/context/folder_lock.h"
#include "host/context/metadata.h"

namespace ephost::context {

class Publication {
 public:
  // Waits for other publications into the folder to end; errors as of FolderLock::acquire.
  static Result<Publication> begin(const std::filesystem::path& folder, const LockWait& wait,
                                   const FileSystem& file_system);

  Publication(Publication&&) = default;
  ~Publication();

  // Publishes a file that `publish_last`'s file refers to. What stood under its name steps aside,
  // unless it is the same content: then it stays. A failure leaves the old file.
  [[nodiscard]] Status publish(AtomicFile& file, const ContentChecksum& checksum);

  // Publishes the file that makes the others count, and removes what they superseded and what dead
  // writers left in the folder. A failure after the last rename leaves all the new files.
  [[nodiscard]] Status publish_last(AtomicFile& file);

  // The same without such a file.
  void finish();

 private:
  Publication(std::filesystem::path folder, FolderLock lock, const FileSystem& file_system);

  // The old file under another name.
  struct Aside {
    std::filesystem::path path;  // empty: there is no old file
    bool moved = false;          // else the old file has both names
  };
  struct Step {
    std::filesystem::path path;
    Aside old;
  };

  Result<Aside> set_aside(const std::filesystem::path& path, const ContentChecksum& checksum);
  void put_back(const Step& step, bool replaced);
  void remove_leftovers();

  std::filesystem::path folder_;
  FolderLock lock_;
  const FileSystem* file_system_;
  std::vector<Step> steps_;         // to be taken back in reverse
  std::vector<std::string> names_;  // of all files published
};

[[nodiscard]] Result<ContentChecksum> checksum_of_file(const InputFile& file);
// Checksum of what is at `path`; NO_SUCHFILE if nothing is there.
[[nodiscard]] Result<ContentChecksum> checksum_of_file(const std::filesystem::path& path,
                                                       const FileSystem& file_system);

}  // namespace ephost::context
