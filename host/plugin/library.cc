#include "host/plugin/library.h"

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/file_error.h"
#include "host/base/text.h"
#include "host/plugin/load_lock.h"

namespace ephost::plugin {
namespace {

// Boost wraps the loader's words in its own: "... (dlerror system message: <text>): <errno text>".
std::string loader_text(std::string_view what) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  const size_t before = what.find(kBefore);
  if (before == std::string_view::npos) return std::string(what);
  what.remove_prefix(before + kBefore.size());
  const size_t end = what.rfind("): ");
  return std::string(what.substr(0, end));
}

Status load_error(const std::filesystem::path& path, std::string_view text) {
  return Status(StatusCode::kEpFail,
                "the system cannot load " + quote(path.native()) + ": " + std::string(text) +
                    "; install what it lacks, or a build of the plugin for this system");
}

}  // namespace

struct Library::Handle {
  boost::dll::shared_library library;
};

Library::Library(std::filesystem::path path, std::unique_ptr<Handle> handle)
    : path_(std::move(path)), handle_(std::move(handle)) {}

Library::~Library() {
  const auto lock = lock_loading();
  handle_.reset();
}

Result<std::shared_ptr<const Library>> Library::open(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return file_error("load", path, error ? error.value() : ENOENT);
  }
  auto handle = std::make_unique<Handle>();
  const auto lock = lock_loading();
  try {
    handle->library.load(path, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  } catch (const std::exception& failure) {
    return load_error(path, loader_text(failure.what()));
  }
  return std::shared_ptr<const Library>(new Library(path, std::move(handle)));
}

void* Library::find_symbol(const char* name) const {
  try {
    if (!handle_->library.has(name)) return nullptr;
    // Boost's `get` takes a type; any function type gives the plain address.
    return reinterpret_cast<void*>(&handle_->library.get<void()>(name));
  } catch (const std::exception&) {  // what cannot be asked for isn't there
    return nullptr;
  }
}

}  // namespace ephost::plugin
