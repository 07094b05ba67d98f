#include "host/manifest/installation.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace ephost::manifest {

namespace {

namespace fs = std::filesystem;

// Whether the last components of `path` are those of `ending`.
bool ends_with(const fs::path& path, const fs::path& ending) {
  auto end = ending.end();
  auto at = path.end();
  while (end != ending.begin()) {
    if (at == path.begin() || *--at != *--end) return false;
  }
  return true;
}

// Reads a hexadecimal number and what stands behind it, `terminator`, from the front of `text`.
std::optional<uintptr_t> take_address(std::string_view& text, char terminator) {
  uintptr_t address = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address, 16);
  if (error != std::errc() || end == text.data() + text.size() || *end != terminator) return {};
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return address;
}

}  // namespace

std::optional<fs::path> mapped_file(std::string_view maps, const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  while (!maps.empty()) {
    std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const std::optional<uintptr_t> begin = take_address(line, '-');
    const std::optional<uintptr_t> end = take_address(line, ' ');
    if (!begin || !end || wanted < *begin || wanted >= *end) continue;
    const size_t path = line.find('/');
    if (path == std::string_view::npos) return std::nullopt;  // memory without a file
    return fs::path(line.substr(path));
  }
  return std::nullopt;
}

std::vector<fs::path> install_directories_of(const fs::path& file, CodeFile kind) {
  const fs::path folder = file.parent_path();
  const bool program = kind == CodeFile::kProgram;
  const fs::path manifests =
      folder / (program ? EPHOST_MANIFESTS_FROM_BIN : EPHOST_MANIFESTS_FROM_LIB);
  const fs::path beside = folder / (program ? "../lib/ephost/plugins" : "ephost/plugins");
  return {manifests.lexically_normal(), beside.lexically_normal()};
}

std::vector<fs::path> install_directories() {
  std::ifstream stream("/proc/self/maps", std::ios::binary);
  const std::string maps(std::istreambuf_iterator<char>(stream), {});
  const std::optional<fs::path> file =
      mapped_file(maps, reinterpret_cast<const void*>(&install_directories));
  if (!file) return {};
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  const bool is_program = !failure && *file == program;
  return install_directories_of(*file, is_program ? CodeFile::kProgram : CodeFile::kSharedLibrary);
}

std::optional<fs::path> library_directory_for(const fs::path& folder) {
  std::error_code failure;
  fs::path manifests = fs::absolute(folder, failure).lexically_normal();
  if (failure) return std::nullopt;
  if (!manifests.has_filename()) manifests = manifests.parent_path();
  if (!ends_with(manifests, EPHOST_MANIFEST_FOLDER)) manifests = manifests.parent_path();
  if (!ends_with(manifests, EPHOST_MANIFEST_FOLDER)) return std::nullopt;
  return (manifests / EPHOST_LIBRARIES_FROM_MANIFESTS).lexically_normal();
}

}  // namespace ephost::manifest
