#include "host/manifest/platform.h"

#include <algorithm>
#include <array>
#include <vector>

#include "host/base/text.h"

namespace ephost::manifest {

namespace {

constexpr std::array<std::string_view, 5> kSystems{"linux", "windows", "macos", "android",
                                                   "freebsd"};
constexpr std::array<std::string_view, 7> kArchitectures{"x86_64",  "aarch64", "arm",  "x86",
                                                         "riscv64", "ppc64le", "s390x"};

#if defined(__ANDROID__)
#define EPHOST_SYSTEM "android"
#elif defined(__linux__)
#define EPHOST_SYSTEM "linux"
#elif defined(__APPLE__)
#define EPHOST_SYSTEM "macos"
#elif defined(__FreeBSD__)
#define EPHOST_SYSTEM "freebsd"
#elif defined(_WIN32)
#define EPHOST_SYSTEM "windows"
#else
#error "Add this system to kSystems and here"
#endif

#if defined(__x86_64__)
#define EPHOST_ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define EPHOST_ARCHITECTURE "aarch64"
#elif defined(__arm__)
#define EPHOST_ARCHITECTURE "arm"
#elif defined(__i386__)
#define EPHOST_ARCHITECTURE "x86"
#elif defined(__riscv) && __riscv_xlen == 64
#define EPHOST_ARCHITECTURE "riscv64"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define EPHOST_ARCHITECTURE "ppc64le"
#elif defined(__s390x__)
#define EPHOST_ARCHITECTURE "s390x"
#else
#error "Add this architecture to kArchitectures and here"
#endif

template <size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view host_platform() { return EPHOST_SYSTEM "-" EPHOST_ARCHITECTURE; }

std::string platform_problem(std::string_view platform) {
  const size_t dash = platform.find('-');
  const bool known = dash != std::string_view::npos &&
                     contains(kSystems, platform.substr(0, dash)) &&
                     contains(kArchitectures, platform.substr(dash + 1));
  if (known) return {};
  return quote(platform) + " is not a platform; write system-architecture, with a system of " +
         join(kSystems, ", ") + " and an architecture of " + join(kArchitectures, ", ");
}

}  // namespace ephost::manifest
