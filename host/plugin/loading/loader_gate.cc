#include "host/plugin/loading/loader_gate.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/base/format.h"

namespace ephost::plugin {

MemoryFile::MemoryFile() : descriptor_(::memfd_create("ephost-load-guard", MFD_CLOEXEC)) {}

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
  // Nobody is sent a signal when somebody waits.
  if (::fcntl(lease, F_SETOWN, 0) != 0) return std::nullopt;
  return gate;
}

LoaderGate::~LoaderGate() {
  if (lease_ >= 0) ::close(lease_);
}

bool LoaderGate::has_waiter() const { return ::fcntl(lease_, F_GETLEASE) != F_WRLCK; }

void LoaderGate::open() const { ::fcntl(lease_, F_SETLEASE, F_UNLCK); }

}  // namespace ephost::plugin
