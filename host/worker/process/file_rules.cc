#include "host/worker/process/file_rules.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "host/base/files/file_descriptor.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::worker {
namespace {

// Rights that the headers of older systems do not name (linux/landlock.h,
// Documentation/userspace-api /landlock.rst of the kernel).
constexpr uint64_t kRefer = uint64_t{1} << 13;        // since version 2
constexpr uint64_t kTruncate = uint64_t{1} << 14;     // since version 3
constexpr uint64_t kDeviceIoctl = uint64_t{1} << 15;  // since version 5

constexpr uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kWrite = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                            LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                            LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM | kRefer |
                            kTruncate | kDeviceIoctl;
// Never granted: running programs, making devices, sockets and pipes.
constexpr uint64_t kNever = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                            LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                            LANDLOCK_ACCESS_FS_MAKE_BLOCK;
// What can be granted of a file that is not a folder.
constexpr uint64_t kOfFiles =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceIoctl;

// All of the ruleset, of which a kernel takes as much as it knows.
struct RulesetAttributes {
  uint64_t files = 0;
  uint64_t network = 0;
  uint64_t scoped = 0;
};
constexpr uint64_t kTcp = 3;     // binding and connecting, since version 4
constexpr uint64_t kScopes = 3;  // abstract sockets and signals, since version 6

// What programs need before a plugin does anything: libraries, and facts about the machine.
constexpr std::array<std::string_view, 16> kAlwaysReadable = {"/lib",
                                                              "/lib64",
                                                              "/usr/lib",
                                                              "/usr/lib64",
                                                              "/etc/ld.so.cache",
                                                              "/etc/localtime",
                                                              "/usr/share/zoneinfo",
                                                              "/proc/self",
                                                              "/proc/cpuinfo",
                                                              "/proc/meminfo",
                                                              "/proc/stat",
                                                              "/proc/sys/vm/overcommit_memory",
                                                              "/sys/devices/system",
                                                              "/dev/urandom",
                                                              "/dev/random"};
constexpr std::string_view kAlwaysWritable = "/dev/null";

int kernel_version() {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

uint64_t known_rights(int version) {
  uint64_t rights = kRead | kWrite | kNever;
  if (version < 2) rights &= ~kRefer;
  if (version < 3) rights &= ~kTruncate;
  if (version < 5) rights &= ~kDeviceIoctl;
  return rights;
}

Status landlock_error(std::string_view what) {
  return Status(StatusCode::kFail,
                formatted("cannot {}: {}", what, std::generic_category().message(errno)));
}

Result<FileDescriptor> create_ruleset(int version) {
  const RulesetAttributes attributes = {.files = known_rights(version),
                                        .network = version >= 4 ? kTcp : 0,
                                        .scoped = version >= 6 ? kScopes : 0};
  const size_t size = version >= 6   ? sizeof attributes
                      : version >= 4 ? 2 * sizeof(uint64_t)
                                     : sizeof(uint64_t);
  FileDescriptor ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (ruleset.is_open()) return ruleset;
  return landlock_error("restrict files");
}

Status allow(const FileDescriptor& ruleset, const std::filesystem::path& path, uint64_t rights) {
  const FileDescriptor file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR) return Status::ok_status();
    return landlock_error("open " + quote(path.native()) + " to allow it in a sandbox");
  }
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) return landlock_error("examine " + quote(path.native()));
  if (!S_ISDIR(info.st_mode)) rights &= kOfFiles;
  landlock_path_beneath_attr rule = {};
  rule.allowed_access = rights;
  rule.parent_fd = file.get();
  if (::syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0) {
    return Status::ok_status();
  }
  return landlock_error("allow " + quote(path.native()) + " in a sandbox");
}

}  // namespace

void report_version(int version, SandboxReport& report) {
  const auto lacks = [&](int since, std::string_view what) {
    if (version < since) report.missing.emplace_back(what);
  };
  lacks(1, "files are not restricted: this kernel has no Landlock");
  if (version == 0) return;
  lacks(3,
        "files that may only be read can be truncated where their permissions allow it: this "
        "kernel's Landlock is older than version 3");
  lacks(5,
        "devices that may only be read can be configured: this kernel's Landlock is older than "
        "version 5");
  lacks(6,
        "the filter of system calls alone keeps signals and abstract sockets from other processes: "
        "this kernel's Landlock is older than version 6");
}

Status restrict_files(const SandboxRules& rules, SandboxReport& report) {
  const int version = kernel_version();
  report_version(version, report);
  if (version == 0) return Status::ok_status();
  EPHOST_ASSIGN_OR_RETURN(const FileDescriptor ruleset, create_ruleset(version));
  const uint64_t known = known_rights(version);
  for (const std::string_view path : kAlwaysReadable) {
    EPHOST_RETURN_IF_ERROR(allow(ruleset, path, known & kRead));
  }
  EPHOST_RETURN_IF_ERROR(allow(ruleset, kAlwaysWritable, known & (kRead | kWrite)));
  for (const auto& path : rules.readable) {
    EPHOST_RETURN_IF_ERROR(allow(ruleset, path, known & kRead));
  }
  for (const auto& path : rules.writable) {
    EPHOST_RETURN_IF_ERROR(allow(ruleset, path, known & (kRead | kWrite)));
  }
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return landlock_error("restrict files");
  }
  return Status::ok_status();
}

void probe_files(SandboxReport& report) { report_version(kernel_version(), report); }

}  // namespace ephost::worker
