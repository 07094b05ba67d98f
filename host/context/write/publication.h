// A publication: several finished files are moved into place as one step. Until `publish_last`
// succeeds, every failure restores the old files; after a crash the old files still exist under
// their superseded names (file_names.h), where the loader finds them. Used only by the writer.
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
  // Waits until no other publication into the folder is under way; fails as FolderLock::acquire
  // does.
  static Result<Publication> begin(const std::filesystem::path& folder, const LockWait& wait,
                                   const FileSystem& file_system);

  Publication(Publication&&) = default;
  ~Publication();

  // Publishes a file that the last file refers to. The old file of that name is set aside; if it
  // has the same content, it stays in place. A failure leaves the old file.
  [[nodiscard]] Status publish(AtomicFile& file, const ContentChecksum& checksum);

  // Publishes the file that refers to the others, and removes the superseded files and what dead
  // writers left in the folder. A failure after the last rename leaves all new files in place.
  [[nodiscard]] Status publish_last(AtomicFile& file);

  // Ends a publication that has no such file.
  void finish();

 private:
  Publication(std::filesystem::path folder, FolderLock lock, const FileSystem& file_system);

  // An old file that was set aside under its superseded name.
  struct Aside {
    std::filesystem::path path;  // empty: there was no old file
    bool moved = false;          // otherwise the old file has both names (hard link)
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
  std::vector<Step> steps_;         // undone in reverse order on failure
  std::vector<std::string> names_;  // file names of everything that was published
};

[[nodiscard]] Result<ContentChecksum> checksum_of_file(const InputFile& file);
// Checksum of the file at `path`; NO_SUCHFILE if there is none.
[[nodiscard]] Result<ContentChecksum> checksum_of_file(const std::filesystem::path& path,
                                                       const FileSystem& file_system);

}  // namespace ephost::context
