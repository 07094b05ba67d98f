#include "host/cli/documentation/documentation.h"

#include <system_error>

#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/cli/documentation/completion.h"
#include "host/cli/documentation/man_page.h"
#include "host/cli/report/output.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

Status write_man_pages(const DocumentedCommand& program, const DocumentedCommand& command,
                       const fs::path& folder) {
  EPHOST_RETURN_IF_ERROR(
      write_text(folder / (man_page_name(command) + ".1"), man_page(program, command)));
  for (const DocumentedCommand& subcommand : command.subcommands) {
    EPHOST_RETURN_IF_ERROR(write_man_pages(program, subcommand, folder));
  }
  return Status::ok_status();
}

Status create_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) return file_error("create the folder", folder, failure.value());
  return Status::ok_status();
}

}  // namespace

Status write_documentation(const DocumentedCommand& program, const fs::path& folder) {
  const std::string& name = program.path.front();
  for (const char* const part : {"man1", "bash-completion", "zsh", "fish"}) {
    EPHOST_RETURN_IF_ERROR(create_folder(folder / part));
  }
  EPHOST_RETURN_IF_ERROR(write_man_pages(program, program, folder / "man1"));
  EPHOST_RETURN_IF_ERROR(write_text(folder / "bash-completion" / name, bash_completion(program)));
  EPHOST_RETURN_IF_ERROR(write_text(folder / "zsh" / ("_" + name), zsh_completion(program)));
  return write_text(folder / "fish" / (name + ".fish"), fish_completion(program));
}

}  // namespace ephost::cli
