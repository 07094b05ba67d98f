#include "host/plugin/loading/library.h"

#include <dlfcn.h>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/files/file.h"
#include "host/manifest/search.h"
#include "host/plugin/calls/call_scope.h"
#include "host/plugin/loading/guarded_load.h"
#include "host/plugin/loading/load_lock.h"

namespace ephost::plugin {
namespace {

// Takes a handle of a library that is loaded already, or loads it. The reason comes from the
// system's loader; Boost's error code only tells that loading failed.
Status load(const std::filesystem::path& path, bool is_loaded,
            boost::dll::shared_library& library) {
  const int mode = RTLD_NOW | RTLD_LOCAL | (is_loaded ? RTLD_NOLOAD : 0);
  std::error_code error;
  ::dlerror();  // discards an earlier error
  try {
    library.load(path, error, static_cast<boost::dll::load_mode::type>(mode));
  } catch (const std::exception& thrown) {  // by a constructor in the library
    return loader_refusal(path, thrown.what());
  }
  if (!error) return {};
  const char* const reason = ::dlerror();
  return loader_refusal(path, reason != nullptr ? reason : error.message());
}

}  // namespace

struct Library::Handle {
  boost::dll::shared_library library;
};

Library::Library(MappedFile file, std::unique_ptr<Handle> handle, const LoadedFiles& loaded)
    : file_(std::move(file)),
      handle_(std::move(handle)),
      brought_along_(loaded.brought_along()),
      unlisted_(loaded.unlisted()) {}

Library::~Library() {
  const auto lock = lock_loading();
  const CallScope scope(CallSite{file_.path().native(), "the destructors"});
  handle_.reset();
}

Result<std::shared_ptr<const Library>> Library::open(MappedFile file, const LoadTerms& terms) {
  const std::filesystem::path& path = file.path();
  EPHOST_RETURN_IF_ERROR(manifest::check_loader_path(path));
  auto handle = std::make_unique<Handle>();
  const auto lock = lock_loading();
  const CallScope scope(CallSite{path.native(), "the constructors"});
  EPHOST_ASSIGN_OR_RETURN(LoadedFiles loaded, LoadedFiles::create(file, terms));
  EPHOST_ASSIGN_OR_RETURN(const LoadedHandle guarded, load_guarded(file, loaded));
  if (guarded == nullptr && terms.listed_only) {
    return loader_refusal(path, "the signature policy \"require\" needs leases and /proc");
  }
  EPHOST_RETURN_IF_ERROR(load(path, guarded != nullptr, handle->library));
  if (is_another_file(file)) return replaced_library(path);
  if (guarded == nullptr) EPHOST_RETURN_IF_ERROR(loaded.compare());
  return std::shared_ptr<const Library>(new Library(std::move(file), std::move(handle), loaded));
}

Result<std::filesystem::path> Library::compare(const MappedFile& file,
                                               const LoadTerms& terms) const {
  const auto lock = lock_loading();
  if (is_another_file(file)) return replaced_library(path());
  EPHOST_ASSIGN_OR_RETURN(LoadedFiles loaded, LoadedFiles::create(file, terms, brought_along_));
  EPHOST_RETURN_IF_ERROR(loaded.compare());
  return loaded.unlisted();
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
