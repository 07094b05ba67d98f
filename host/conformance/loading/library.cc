// Rules 1 and 3 to 5: the file of the library, how it is loaded, and how it is unloaded.
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/kept_libraries.h"
#include "host/conformance/support/probe.h"
#include "host/conformance/support/process_state.h"
#include "host/manifest/platform.h"
#include "host/plugin/loading/elf_summary.h"

namespace ephost::conformance {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

std::optional<MappedFile> library_file(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (found.ok()) {
    Result<MappedFile> file = MappedFile::open(found->library);
    if (file.ok() && plugin::summarize_elf(file->bytes()).needed_size != 0) {
      return std::move(*file);
    }
  }
  report.leave_out("the library is missing, or not a library; check 3.1 says more");
  return std::nullopt;
}

void check_exported(const Subject& subject, Report& report) {
  const std::optional<MappedFile> file = library_file(subject, report);
  if (!file) return;
  std::vector<std::string> others;
  bool has_entry_point = false;
  for (const plugin::ElfSymbol& symbol : plugin::exported_symbols(file->bytes())) {
    if (symbol.name == EPH_PLUGIN_SYMBOL) {
      has_entry_point = true;
    } else if (!symbol.name.starts_with("eph_plugin_v")) {
      others.push_back(symbol.name);
    }
  }
  if (!has_entry_point) {
    report.fail("the library does not export " EPH_PLUGIN_SYMBOL,
                "define it with EPH_EXPORT, and build the library with ephost_add_plugin");
  }
  if (others.empty()) return;
  const size_t count = others.size();
  others.resize(std::min<size_t>(count, 5));
  report.fail(
      formatted("the library exports {} other symbols, e.g. {}", count, join(others, ", ")),
      "hide them (-fvisibility=hidden) and link with a version script, as ephost_add_plugin "
      "does");
}

void check_resolves(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (!found.ok()) {
    report.fail(text_of(found.status()), "put the library where the manifest says that it is");
    return;
  }
  const Result<MappedFile> file = MappedFile::open(found->library);
  if (file.ok()) {
    const plugin::ElfSummary summary = plugin::summarize_elf(file->bytes());
    if ((plugin::sanitizers_of(summary.needed) & ~uint64_t{EPH_BUILD_FLAGS}) != 0) {
      return report.leave_out("the library needs a sanitizer that this host lacks (check 5.1)");
    }
  }
  const Result<std::shared_ptr<const plugin::Library>> library = load_library(*found);
  if (library.ok()) return;
  report.fail(
      text_of(library.status()),
      "link the library with --no-undefined, and ship or depend on everything that it needs");
}

void check_search_path(const Subject& subject, Report& report) {
  const std::optional<MappedFile> file = library_file(subject, report);
  if (!file) return;
  const plugin::ElfSummary summary = plugin::summarize_elf(file->bytes());
  std::string_view rest = summary.search_path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (folder.starts_with("$ORIGIN") || folder.starts_with("${ORIGIN}")) continue;
    report.fail(formatted("the library searches what it needs in {}", quote(folder)),
                "use search paths relative to $ORIGIN only, so that the plugin can be installed "
                "anywhere and nobody can put a library into that folder");
  }
}

void check_hardening(const Subject& subject, Report& report) {
  const std::optional<MappedFile> file = library_file(subject, report);
  if (!file) return;
  const plugin::ElfSummary summary = plugin::summarize_elf(file->bytes());
  if (summary.has_executable_stack) {
    report.fail("the library makes the stacks of the process executable",
                "link with -z noexecstack, and mark assembly files with .note.GNU-stack");
  }
  if (summary.has_text_relocations) {
    report.fail("the library has relocations in its code",
                "compile everything in it as position-independent code (-fPIC)");
  }
}

// Links to the libraries beside that one, which it may depend on.
void link_neighbours(const fs::path& library, const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(library.parent_path(), ignored)) {
    const fs::path name = entry.path().filename();
    const bool is_library = name.native().find(".so") != std::string::npos;
    if (is_library) fs::create_symlink(entry.path(), folder / name, ignored);
  }
}

// A copy of library and manifest in a folder of its own.
Result<fs::path> copy_plugin(const manifest::FoundPlugin& found, const fs::path& folder) {
  const manifest::LibraryEntry* const entry = found.manifest.library_for(manifest::host_platform());
  const fs::path library = folder / (entry == nullptr ? "library.so" : entry->path);
  const fs::path manifest = folder / found.manifest.file.filename();
  std::error_code failure;
  fs::create_directories(library.parent_path(), failure);
  if (!failure) fs::copy_file(found.library, library, failure);
  if (!failure) fs::copy_file(found.manifest.file, manifest, failure);
  if (!failure) link_neighbours(found.library, library.parent_path());
  if (!failure) return manifest;
  return Status(StatusCode::kFail, formatted("cannot copy the plugin to {}: {}",
                                             quote(folder.native()), failure.message()));
}

// Whether a provider of a plugin that was loaded again can be created.
bool works(const std::shared_ptr<const plugin::LoadedPlugin>& plugin) {
  Report created;
  const LiveProvider provider(plugin, created);
  return provider.get() != nullptr;
}

// Whether it can be as the plugin is; leaves the check out if not.
bool need_working(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return false;
  const LiveProvider provider(plugin, report);
  return provider.get() != nullptr;
}

void check_relocatable(const Subject& subject, Report& report) {
  if (!need_working(subject, report)) return;
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  const std::string path = found.ok() ? found->manifest.libraries.begin()->second.path : "";
  if (path.starts_with("..")) return report.leave_out("the library lies outside of the folder");
  const Result<fs::path> copy = copy_plugin(*found, subject.scratch / "a folder \u00e9");
  if (!copy.ok()) return report.leave_out(text_of(copy.status()));
  Subject moved = subject;
  moved.manifest = *copy;
  const Result<std::shared_ptr<const plugin::LoadedPlugin>> plugin = load_plugin(moved);
  if (!plugin.ok()) {
    report.fail(
        formatted("the plugin cannot be loaded from another folder: {}", text_of(plugin.status())),
        "find files of the plugin relative to eph_load_info.directory or $ORIGIN");
  } else if (!works(*plugin)) {
    report.fail(
        "no provider can be created once the plugin is in another folder",
        "find files of the plugin relative to the directory that eph_provider_config gives");
  }
}

bool is_mapped(const fs::path& library) {
  std::ifstream stream("/proc/self/maps");
  const std::string maps(std::istreambuf_iterator<char>(stream), {});
  return maps.find(library.native()) != std::string::npos;
}

bool stays_loaded(const plugin::LoadedPlugin& plugin) {
  return (plugin.preamble.flags & EPH_PLUGIN_STAYS_LOADED) != 0;
}

// Loads the plugin, uses it, and lets go of it.
void use_once(const Subject& subject) {
  Report ignored;
  const Result<std::shared_ptr<const plugin::LoadedPlugin>> plugin = load_plugin(subject);
  if (plugin.ok()) const LiveProvider provider(*plugin, ignored);
}

constexpr std::string_view kUnloadAdvice =
    "end threads before destroy returns, register no atexit handler, compile with -fno-gnu-unique, "
    "or state EPH_PLUGIN_STAYS_LOADED";

void check_unloads(const Subject& subject, Report& report) {
  {
    const auto plugin = need_plugin(subject, report);
    if (!plugin) return;
    if (stays_loaded(*plugin)) return report.leave_out("the plugin declares that it stays loaded");
  }
  const fs::path library = find_plugin(subject)->library;
  if (is_mapped(library)) {
    report.fail("the library is still mapped once it was loaded and unloaded",
                std::string(kUnloadAdvice));
    return;
  }
  use_once(subject);
  if (is_mapped(library)) {
    report.fail("the library is still mapped once a provider was created and destroyed",
                std::string(kUnloadAdvice));
  }
}

void check_load_again(const Subject& subject, Report& report) {
  if (!need_working(subject, report)) return;
  for (int i = 0; i < 3; ++i) {
    const auto plugin = load_plugin(subject);
    if (plugin.ok() && works(*plugin)) continue;
    report.fail(
        formatted("once it was unloaded, the plugin {}",
                  plugin.ok() ? std::string("is loaded, and no provider of it can be created")
                              : "cannot be loaded again: " + text_of(plugin.status())),
        "keep nothing that outlives the library, such as registrations in other libraries");
    return;
  }
}

void check_load_storm(const Subject& subject, Report& report) {
  auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const KeptSystemLibraries kept;
  plugin.reset();
  const int rounds = subject.level == Level::kFull ? 50 : 10;
  judge_growth(rounds, "loading and unloading the plugin", report,
               [&] { static_cast<void>(load_plugin(subject)); });
}

void check_unique(const Subject& subject, Report& report) {
  const std::optional<MappedFile> file = library_file(subject, report);
  if (!file) return;
  for (const plugin::ElfSymbol& symbol : plugin::exported_symbols(file->bytes())) {
    if (!symbol.is_unique) continue;
    report.fail(
        formatted("the symbol {} is GNU unique, so that the library is never unloaded",
                  quote(symbol.name)),
        "compile with -fno-gnu-unique, or link with a version script that makes all but the "
        "entry point local");
    return;
  }
}

void check_threads_outlive(const Subject& subject, Report& report) {
  if (!need_plugin(subject, report)) return;
  // The thread that has used the plugin ends after the library is gone; then its thread-local
  // objects are destroyed.
  std::thread([&] { use_once(subject); }).join();
  const auto plugin = load_plugin(subject);
  if (plugin.ok() && !stays_loaded(**plugin)) {
    std::thread([&] { const LiveProvider provider(*plugin, report); }).join();
  }
}

void check_sanitizers(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (!found.ok()) return report.leave_out("the library is missing; check 3.1 says more");
  const Result<MappedFile> file = MappedFile::open(found->library);
  if (!file.ok()) return report.leave_out("the library is missing; check 3.1 says more");
  const plugin::ElfSummary summary = plugin::summarize_elf(file->bytes());
  const uint64_t shown = plugin::sanitizers_of(summary.needed);
  if ((shown & ~uint64_t{EPH_BUILD_FLAGS}) != 0) {
    report.fail(formatted("the library needs the run-time library of a sanitizer, which this host "
                          "was built without: {}",
                          join(summary.needed, ", ")),
                "check a build without sanitizers, or use a host that has the same ones");
    return;
  }
  const std::optional<RawPlugin> raw = need_raw(subject, report);
  if (!raw || raw->preamble->struct_size < sizeof(eph_plugin_preamble)) return;
  const uint64_t stated = raw->preamble->build_flags;
  if ((stated & shown) == shown && (stated & ~uint64_t{EPH_BUILD_FLAGS}) == 0) return;
  report.fail(formatted("the preamble has the build flags {:#x}; the file shows {:#x}, and this "
                        "host has {:#x}",
                        stated, shown, uint64_t{EPH_BUILD_FLAGS}),
              "fill build_flags with EPH_BUILD_FLAGS");
}

constexpr std::array kLibraryChecks = {
    Check{1, 1, "exported-symbols", "The library exports eph_plugin_v1 and nothing else",
          Level::kBasic, seconds(30), &check_exported},
    Check{3, 1, "everything-resolves", "The library and all that it needs can be loaded at once",
          Level::kBasic, seconds(30), &check_resolves},
    Check{3, 2, "search-path", "The library searches what it needs relative to itself only",
          Level::kBasic, seconds(30), &check_search_path},
    Check{3, 3, "no-weakened-memory", "The library needs no executable stack and no changed code",
          Level::kBasic, seconds(30), &check_hardening},
    Check{3, 4, "relocatable", "The plugin works from another folder", Level::kBasic, seconds(30),
          &check_relocatable},
    Check{4, 1, "unloads", "The library is unmapped with its last user", Level::kBasic, seconds(30),
          &check_unloads},
    Check{4, 2, "loads-again", "The plugin can be loaded again after it was unloaded",
          Level::kBasic, seconds(30), &check_load_again},
    Check{4, 3, "load-storm", "Loading and unloading many times leaves nothing behind",
          Level::kBasic, seconds(300), &check_load_storm},
    Check{4, 4, "no-unique-symbols", "The library has no GNU unique symbols", Level::kBasic,
          seconds(30), &check_unique},
    Check{4, 5, "threads-outlive-library", "Threads that have used the plugin may outlive it",
          Level::kBasic, seconds(30), &check_threads_outlive},
    Check{5, 1, "sanitizers", "The build flags name the sanitizers that the file shows",
          Level::kBasic, seconds(30), &check_sanitizers}};

}  // namespace

std::span<const Check> library_checks() { return kLibraryChecks; }

}  // namespace ephost::conformance
