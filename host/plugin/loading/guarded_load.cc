#include "host/plugin/loading/guarded_load.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/plugin/loading/elf_object.h"
#include "host/plugin/loading/mapped_lines.h"

namespace ephost::plugin {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] std::string path() const { return formatted("/proc/self/fd/{}", number_); }

 private:
  int number_;
};

bool write_all(const Descriptor& memory, const std::string& bytes) {
  return ::pwrite(memory.number(), bytes.data(), bytes.size(), 0) ==
         static_cast<ssize_t>(bytes.size());
}

Descriptor make_memory() { return Descriptor(::memfd_create("ephost-load-guard", MFD_CLOEXEC)); }

// A library that is about to be mapped.
struct Expected {
  const MappedFile* file = nullptr;
  std::string identity;  // as file_mapped_at returns it
  size_t ranges = 0;     // how many were mapped before
};

// The file that others wait for, and what decides when they may go on.
class Gate {
 public:
  // Nothing where the system grants no lease.
  static std::optional<Gate> make() {
    Descriptor memory = make_memory();
    if (!memory.is_open()) return std::nullopt;
    // The kernel grants a write lease only on what is open for reading alone.
    Descriptor lease(::open(memory.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!lease.is_open() || ::fcntl(lease.number(), F_SETLEASE, F_WRLCK) != 0) return std::nullopt;
    // Nobody is sent a signal when somebody waits.
    if (::fcntl(lease.number(), F_SETOWN, 0) != 0) return std::nullopt;
    return Gate(std::move(memory), std::move(lease));
  }

  [[nodiscard]] std::string path() const { return memory_.path(); }
  [[nodiscard]] bool has_waiter() const { return ::fcntl(lease_.number(), F_GETLEASE) != F_WRLCK; }
  bool fill(const std::string& object) const { return write_all(memory_, object); }
  void open() const { ::fcntl(lease_.number(), F_SETLEASE, F_UNLCK); }

 private:
  Gate(Descriptor memory, Descriptor lease)
      : memory_(std::move(memory)), lease_(std::move(lease)) {}

  Descriptor memory_;
  Descriptor lease_;
};

// The thread that compares while the loader waits.
class Inspector {
 public:
  Inspector(const Gate& gate, std::string object, const std::vector<Expected>& expected)
      : gate_(gate), object_(std::move(object)), expected_(expected) {
    // Signals belong to the application's threads.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::exception&) {
      is_missing_ = true;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
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

  // The library whose path led to another file, if one did. Valid after `finish`.
  [[nodiscard]] const MappedFile* replaced() const { return replaced_; }

 private:
  void work() noexcept {
    while (!gate_.has_waiter()) {
      if (is_over_) return;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    try {
      if (compare()) gate_.fill(object_);
    } catch (const std::exception&) {  // out of memory: nothing is loaded
    }
    gate_.open();
  }

  bool compare() {
    const Result<std::string> maps = read_file("/proc/self/maps");
    if (!maps.ok()) return false;
    for (const Expected& expected : expected_) {
      if (count_loaded_ranges(expected.identity, *maps) > expected.ranges) continue;
      replaced_ = expected.file;
      return false;
    }
    return true;
  }

  const Gate& gate_;
  std::string object_;
  const std::vector<Expected>& expected_;
  std::atomic<bool> is_over_{false};
  bool is_missing_ = false;
  const MappedFile* replaced_ = nullptr;
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

struct Expectations {
  std::vector<Expected> files;        // which the loader will map
  std::vector<LoadedHandle> handles;  // of those that are loaded already, so that they stay so
};

Result<Expectations> find_expected(std::span<const MappedFile* const> files) {
  const Result<std::string> maps = read_file("/proc/self/maps");
  Expectations expected;
  for (const MappedFile* const file : files) {
    if (LoadedHandle loaded = open_if_loaded(file->path()); loaded != nullptr) {
      if (is_another_file(loaded, *file)) return replaced_library(file->path());
      expected.handles.push_back(std::move(loaded));
    } else if (maps.ok()) {
      std::string identity = file_mapped_at(file->bytes().data(), *maps);
      const size_t ranges = count_loaded_ranges(identity, *maps);
      expected.files.push_back({file, std::move(identity), ranges});
    }
  }
  return expected;
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

Status replaced_library(const std::filesystem::path& path) {
  return Status(StatusCode::kEpFail,
                quote(path.native()) +
                    " was replaced while it was being loaded, or since this process loaded it "
                    "before; start the process again");
}

Status loader_refusal(const std::filesystem::path& path, std::string_view text) {
  return Status(StatusCode::kEpFail, formatted("the system cannot load {}: {}; install what it "
                                               "lacks, or a build of the plugin for this system",
                                               quote(path.native()), text));
}

Result<LoadedHandle> load_guarded(std::span<const MappedFile* const> files) {
  EPHOST_ASSIGN_OR_RETURN(const Expectations expected, find_expected(files));
  const std::optional<Gate> gate = Gate::make();
  const Descriptor guard = make_memory();
  const Result<std::string> empty = make_elf_object({});
  std::vector<std::string> needed;
  for (const MappedFile* const file : files) needed.push_back(file->path().native());
  if (gate) needed.push_back(gate->path());
  const Result<std::string> object = make_elf_object(needed);
  if (!gate || !guard.is_open() || !object.ok() || !empty.ok() || !write_all(guard, *object)) {
    return LoadedHandle();
  }
  Inspector inspector(*gate, *empty, expected.files);
  if (inspector.is_missing()) {
    return loader_refusal(files.front()->path(), "no thread can be started");
  }
  ::dlerror();  // discards an earlier error
  LoadedHandle handle(::dlopen(guard.path().c_str(), RTLD_NOW | RTLD_LOCAL));
  const std::string reason = handle == nullptr ? loader_error() : std::string();
  inspector.finish();
  if (inspector.replaced() != nullptr) return replaced_library(inspector.replaced()->path());
  if (handle == nullptr) return loader_refusal(files.front()->path(), reason);
  return handle;
}

}  // namespace ephost::plugin
