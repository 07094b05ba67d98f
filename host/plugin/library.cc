#include "host/plugin/library.h"

#include <dlfcn.h>
#include <link.h>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>
#include <cstdint>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/search.h"
#include "host/plugin/call_scope.h"
#include "host/plugin/load_lock.h"

namespace ephost::plugin {
namespace {

Status load_error(const std::filesystem::path& path, std::string_view text) {
  return Status(StatusCode::kEpFail, formatted("the system cannot load {}: {}; install what it "
                                               "lacks, or a build of the plugin for this system",
                                               quote(path.native()), text));
}

// The reason comes from the system's loader; Boost's error code only tells that loading failed.
Status load(const std::filesystem::path& path, boost::dll::shared_library& library) {
  std::error_code error;
  ::dlerror();  // discards an earlier error
  try {
    library.load(path, error, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  } catch (const std::exception& thrown) {  // by a constructor in the library
    return load_error(path, thrown.what());
  }
  if (!error) return {};
  const char* const reason = ::dlerror();
  return load_error(path, reason != nullptr ? reason : error.message());
}

// Device and inode of the file that is mapped at `address`, as `maps`, the content of
// /proc/self/maps, states them; empty if no line covers the address. Some file systems state other
// numbers there than `stat` returns for the same file.
std::string file_mapped_at(const void* address, const std::string& maps) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char dash = 0;
    std::string access;
    std::string offset;
    std::string device;
    std::string inode;
    fields >> std::hex >> begin >> dash >> end >> access >> offset >> device >> inode;
    if (fields && begin <= wanted && wanted < end) return device + " " + inode;
  }
  return {};
}

// Whether the library was mapped from another file than `file`. False without /proc, where that is
// unknown.
bool is_another_file(void* library, const MappedFile& file) {
  const link_map* entry = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &entry) != 0) return false;
  const Result<std::string> maps = read_file("/proc/self/maps");
  if (!maps.ok()) return false;
  return file_mapped_at(entry->l_ld, *maps) != file_mapped_at(file.bytes().data(), *maps);
}

}  // namespace

struct Library::Handle {
  boost::dll::shared_library library;
};

Library::Library(MappedFile file, std::unique_ptr<Handle> handle)
    : file_(std::move(file)), handle_(std::move(handle)) {}

Library::~Library() {
  const auto lock = lock_loading();
  const CallScope scope(CallSite{file_.path().native(), "the destructors"});
  handle_.reset();
}

Result<std::shared_ptr<const Library>> Library::open(MappedFile file) {
  const std::filesystem::path& path = file.path();
  EPHOST_RETURN_IF_ERROR(manifest::check_loader_path(path));
  auto handle = std::make_unique<Handle>();
  const auto lock = lock_loading();
  const CallScope scope(CallSite{path.native(), "the constructors"});
  EPHOST_RETURN_IF_ERROR(load(path, handle->library));
  if (is_another_file(handle->library.native(), file)) {
    return Status(StatusCode::kEpFail,
                  quote(path.native()) +
                      " was replaced while it was being loaded, or since this process loaded it "
                      "before; start the process again");
  }
  return std::shared_ptr<const Library>(new Library(std::move(file), std::move(handle)));
}

void Library::stay_loaded() const {
  const auto lock = lock_loading();
  // Loads nothing; the mark stays when this handle is closed.
  void* const handle = ::dlopen(path().c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (handle != nullptr) ::dlclose(handle);
}

void* Library::find_symbol(const char* name) const {
  try {
    if (!handle_->library.has(name)) return nullptr;
    // Boost's `get` needs a type; any function type gives the plain address.
    return reinterpret_cast<void*>(&handle_->library.get<void()>(name));
  } catch (const std::exception&) {  // a symbol that cannot be looked up does not exist
    return nullptr;
  }
}

}  // namespace ephost::plugin
