#include "host/plugin/loading/loader_gate.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mutex>
#include <vector>

#include "host/base/format.h"

namespace ephost::plugin {

namespace {

constexpr const char* kMemoryFileName = "ephost-load-guard";
constexpr off_t kReservedSize = off_t{16} << 10;

struct Reserve {
  std::mutex mutex;
  std::vector<int> descriptors;
};

// Never destroyed: a library may be loaded at the very end.
Reserve& memory_file_reserve() {
  static auto* const reserve = new Reserve;
  return *reserve;
}

int make_memory_file() {
  Reserve& reserve = memory_file_reserve();
  const std::lock_guard lock(reserve.mutex);
  if (reserve.descriptors.empty()) return ::memfd_create(kMemoryFileName, MFD_CLOEXEC);
  const int descriptor = reserve.descriptors.back();
  reserve.descriptors.pop_back();
  return descriptor;
}

}  // namespace

void reserve_memory_files(size_t count) {
  Reserve& reserve = memory_file_reserve();
  const std::lock_guard lock(reserve.mutex);
  while (reserve.descriptors.size() < count) {
    const int descriptor = ::memfd_create(kMemoryFileName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return;
    if (::ftruncate(descriptor, kReservedSize) != 0 ||
        ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
      ::close(descriptor);
      return;
    }
    reserve.descriptors.push_back(descriptor);
  }
}

MemoryFile::MemoryFile() : descriptor_(make_memory_file()) {}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string MemoryFile::path() const { return formatted("/proc/self/fd/{}", descriptor_); }

bool MemoryFile::write(const std::string& bytes) const {
  return ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
}

std::optional<LoaderGate> LoaderGate::make() {
  MemoryFile file;
  if (!file.is_open()) return std::nullopt;
  // The kernel grants a write lease only on what is open for reading alone.
  const int lease = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  if (lease < 0) return std::nullopt;
  LoaderGate gate(std::move(file), lease);
  if (::fcntl(lease, F_SETLEASE, F_WRLCK) != 0) return std::nullopt;
  // No signal is sent when the loader waits.
  if (::fcntl(lease, F_SETOWN, 0) != 0) return std::nullopt;
  return gate;
}

LoaderGate::~LoaderGate() {
  if (lease_ >= 0) ::close(lease_);
}

bool LoaderGate::has_waiter() const { return ::fcntl(lease_, F_GETLEASE) != F_WRLCK; }

void LoaderGate::open() const { ::fcntl(lease_, F_SETLEASE, F_UNLCK); }

}  // namespace ephost::plugin
