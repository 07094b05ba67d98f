#include "host/base/files/operation_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "host/base/files/mapped_pages.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {

namespace fs = std::filesystem;

std::optional<OperationFiles::Identity> OperationFiles::identity_of(const fs::path& path,
                                                                    bool is_folder) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  const bool is_right = is_folder ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode);
  if (!is_right) return std::nullopt;
  return Identity{.device = info.st_dev, .inode = info.st_ino};
}

OperationFiles::File OperationFiles::examine(const fs::path& path, std::string role) {
  const fs::path folder = path.parent_path();
  return {.path = path,
          .role = std::move(role),
          .content = identity_of(path, false),
          .folder = identity_of(folder.empty() ? fs::path(".") : folder, true)};
}

bool OperationFiles::have_one_name(const File& a, const File& b) {
  return a.folder && a.folder == b.folder && a.path.filename() == b.path.filename();
}

Status OperationFiles::add_input(const fs::path& path, std::string role) {
  return add_input(examine(path, std::move(role)));
}

Status OperationFiles::add_input(const fs::path& path, std::span<const std::byte> content,
                                 std::string role) {
  const std::optional<MappedRange> range = find_mapped_range(content);
  if (!range) return Status::ok_status();
  File input = examine(path, std::move(role));
  input.content = Identity{.device = range->file.device, .inode = range->file.inode};
  return add_input(std::move(input));
}

Status OperationFiles::add_output(const fs::path& path, std::string role) {
  return add_output(examine(path, std::move(role)));
}

namespace {

Status overwrites(std::string_view output_role, const fs::path& output, std::string_view input_role,
                  const fs::path& input) {
  return Status(
      StatusCode::kInvalidArgument,
      formatted("{} {} would overwrite {} {}, which is an input; choose another path for it",
                output_role, quote(output.native()), input_role, quote(input.native())));
}

}  // namespace

Status OperationFiles::add_input(File input) {
  for (const File& output : outputs_) {
    if ((input.content && input.content == output.content) || have_one_name(input, output)) {
      return overwrites(output.role, output.path, input.role, input.path);
    }
  }
  inputs_.push_back(std::move(input));
  return Status::ok_status();
}

// Outputs are put in place by renaming, so that two outputs collide only if they have the same
// name.
Status OperationFiles::add_output(File output) {
  for (const File& input : inputs_) {
    if ((output.content && output.content == input.content) || have_one_name(output, input)) {
      return overwrites(output.role, output.path, input.role, input.path);
    }
  }
  for (const File& other : outputs_) {
    if (!have_one_name(output, other)) continue;
    return Status(
        StatusCode::kInvalidArgument,
        formatted("{} {} and {} {} are the same file; give them different names", output.role,
                  quote(output.path.native()), other.role, quote(other.path.native())));
  }
  outputs_.push_back(std::move(output));
  return Status::ok_status();
}

bool OperationFiles::has_output(const File& output) const {
  return std::any_of(outputs_.begin(), outputs_.end(), [&](const File& other) {
    return output.path == other.path && output.role == other.role;
  });
}

Status OperationFiles::add_all(const OperationFiles& other) {
  for (const File& input : other.inputs_) EPHOST_RETURN_IF_ERROR(add_input(input));
  for (const File& output : other.outputs_) {
    if (!has_output(output)) EPHOST_RETURN_IF_ERROR(add_output(output));
  }
  return Status::ok_status();
}

}  // namespace ephost
