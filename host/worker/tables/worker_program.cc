#include "host/worker/tables/worker_program.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "host/base/environment.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/installation.h"

namespace ephost::worker {

namespace fs = std::filesystem;

Result<fs::path> find_worker_program() {
  if (const char* const stated = environment_value("EPHOST_WORKER_PROGRAM");
      stated != nullptr && *stated != '\0') {
    return fs::path(stated);
  }
  std::ifstream stream("/proc/self/maps", std::ios::binary);
  const std::string maps(std::istreambuf_iterator<char>(stream), {});
  const auto file =
      manifest::mapped_file(maps, reinterpret_cast<const void*>(&find_worker_program));
  const fs::path folder = file ? file->parent_path() : fs::path();
  // From a library and from a program of an installation, then of a build tree; beside the program.
  for (const char* const way :
       {EPHOST_WORKER_FROM_LIB, EPHOST_WORKER_FROM_BIN, "ephost/ephost-worker",
        "../lib/ephost/ephost-worker", "ephost-worker"}) {
    fs::path program = (folder / way).lexically_normal();
    std::error_code ignored;
    if (!folder.empty() && fs::exists(program, ignored)) return program;
  }
  return Status(StatusCode::kNoSuchFile,
                formatted("the program ephost-worker, which isolation needs, is missing from {}; "
                          "install ephost again",
                          quote((folder / EPHOST_WORKER_FROM_LIB).lexically_normal().native())));
}

}  // namespace ephost::worker
