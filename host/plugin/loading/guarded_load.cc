#include "host/plugin/loading/guarded_load.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/base/threads/signals.h"
#include "host/plugin/loading/elf_object.h"
#include "host/plugin/loading/loader_gate.h"
#include "host/plugin/loading/mapped_lines.h"

namespace ephost::plugin {
namespace {

// The thread that compares while the loader waits.
class Inspector {
 public:
  // `last` is what the last gate becomes.
  Inspector(LoaderGate gate, std::string last, const MappedFile& library, bool is_loaded,
            LoadedFiles& files)
      : last_(std::move(last)), library_(library), is_loaded_(is_loaded), files_(files) {
    files_.pass_over(gate.path());
    gates_.push_back(std::move(gate));
    const SignalsBlocked blocked;
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::exception&) {
      is_missing_ = true;
    }
  }
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;
  ~Inspector() { finish(); }

  // Whether no thread could be started.
  [[nodiscard]] bool is_missing() const { return is_missing_; }

  // To be called when the loader has returned.
  void finish() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }

  // Why the loader was not let through. Valid after `finish`.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void work() noexcept {
    try {
      status_ = pass_gates();
    } catch (const std::exception&) {  // out of memory: nothing is loaded
    }
    gates_.back().open();
  }

  Status pass_gates() {
    while (wait_for_loader()) {
      EPHOST_RETURN_IF_ERROR(files_.compare());
      if (!is_loaded_ && !files_.has_library()) return replaced_library(library_.path());
      // The guard, or the gate before this one, is always added.
      if (files_.added() <= 1) {
        gates_.back().fill(last_);
        return {};
      }
      std::optional<LoaderGate> next = LoaderGate::make();
      if (!next) return Status(StatusCode::kEpFail, "the system grants no further lease");
      const std::array<std::string, 1> needed = {next->path()};
      EPHOST_ASSIGN_OR_RETURN(const std::string object, make_elf_object(needed));
      gates_.back().fill(object);
      files_.pass_over(next->path());
      gates_.push_back(std::move(*next));
      gates_[gates_.size() - 2].open();
    }
    return {};
  }

  // Until the loader has come to the last gate; false if it has given up before.
  bool wait_for_loader() {
    while (!gates_.back().has_waiter()) {
      if (is_over_) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
  }

  std::string last_;
  const MappedFile& library_;
  const bool is_loaded_;
  LoadedFiles& files_;
  std::vector<LoaderGate> gates_;  // all but the last are open
  std::atomic<bool> is_over_{false};
  bool is_missing_ = false;
  Status status_;
  std::thread thread_;
};

LoadedHandle open_if_loaded(const std::filesystem::path& path) {
  LoadedHandle handle(::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD));
  ::dlerror();  // discards the reason
  return handle;
}

bool is_another_file(const LoadedHandle& loaded, const MappedFile& file) {
  const link_map* entry = nullptr;
  if (::dlinfo(loaded.get(), RTLD_DI_LINKMAP, &entry) != 0) return false;
  const Result<std::string> maps = read_file("/proc/self/maps");
  if (!maps.ok()) return false;
  return file_mapped_at(entry->l_ld, *maps) != file_mapped_at(file.bytes().data(), *maps);
}

std::string loader_error() {
  const char* const reason = ::dlerror();
  return reason != nullptr ? reason : "it gives no reason";
}

}  // namespace

void CloseHandle::operator()(void* handle) const { ::dlclose(handle); }

bool is_another_file(const MappedFile& file) {
  const LoadedHandle handle = open_if_loaded(file.path());
  return handle != nullptr && is_another_file(handle, file);
}

Status loader_refusal(const std::filesystem::path& path, std::string_view text) {
  return Status(StatusCode::kEpFail, formatted("the system cannot load {}: {}; install what it "
                                               "lacks, or a build of the plugin for this system",
                                               quote(path.native()), text));
}

Result<LoadedHandle> load_guarded(const MappedFile& library, LoadedFiles& files) {
  // Keeps it loaded.
  const LoadedHandle loaded = open_if_loaded(library.path());
  if (loaded != nullptr && is_another_file(loaded, library)) {
    return replaced_library(library.path());
  }
  std::optional<LoaderGate> gate = LoaderGate::make();
  if (!gate) return LoadedHandle();
  const MemoryFile guard;
  const std::array<std::string, 2> needed = {library.path().native(), gate->path()};
  const Result<std::string> object = make_elf_object(needed);
  const Result<std::string> last = make_elf_object({});
  if (!guard.is_open() || !object.ok() || !last.ok() || !guard.write(*object)) {
    return LoadedHandle();
  }
  files.pass_over(guard.path());
  Inspector inspector(std::move(*gate), *last, library, loaded != nullptr, files);
  if (inspector.is_missing()) {
    return loader_refusal(library.path(), "no thread can be started");
  }
  ::dlerror();  // discards an earlier error
  LoadedHandle handle(::dlopen(guard.path().c_str(), RTLD_NOW | RTLD_LOCAL));
  const std::string reason = handle == nullptr ? loader_error() : std::string();
  inspector.finish();
  EPHOST_RETURN_IF_ERROR(inspector.status());
  if (handle == nullptr) return loader_refusal(library.path(), reason);
  return handle;
}

}  // namespace ephost::plugin
