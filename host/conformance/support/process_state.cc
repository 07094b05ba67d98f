#include "host/conformance/support/process_state.h"

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "host/base/environment.h"
#include "host/base/files/folders/directory.h"
#include "host/base/format.h"
#include "host/base/memory/system_memory.h"
#include "host/base/processes/process.h"
#include "host/base/text.h"
#include "host/plugin/calls/floating_point.h"

namespace ephost::conformance {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::error_code ignored;
  return list_directory(folder, ignored);
}

std::string target_of(const fs::path& link) {
  std::error_code failure;
  const fs::path target = fs::read_symlink(link, failure);
  return failure ? "closed" : target.string();
}

std::string handler_text(int signal) {
  struct sigaction action = {};
  if (::sigaction(signal, nullptr, &action) != 0) return "unknown";
  if ((action.sa_flags & SA_SIGINFO) == 0) {
    if (action.sa_handler == SIG_DFL) return "default";
    if (action.sa_handler == SIG_IGN) return "ignored";
  }
  return formatted("handler {:#x}, flags {:#x}", std::bit_cast<uintptr_t>(action.sa_sigaction),
                   action.sa_flags);
}

std::string mask_text() {
  sigset_t mask = {};
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  std::string text;
  for (int signal = 1; signal < SIGRTMAX; ++signal) {
    if (::sigismember(&mask, signal) == 1) text += formatted("{} ", signal);
  }
  return text;
}

// The bits of the control registers, which differ where rounding or flushing does.
std::string floating_point_text() {
  const plugin::FloatingPointControl control = plugin::FloatingPointControl::read();
  std::string text = formatted("rounding {}", std::fegetround());
  if constexpr (std::has_unique_object_representations_v<plugin::FloatingPointControl>) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&control);
    for (size_t i = 0; i < sizeof(control); ++i) text += formatted(" {:02x}", bytes[i]);
  }
#if defined(__x86_64__)
  text += formatted(" {:#x}", __builtin_ia32_stmxcsr() & ~0x3fU);
#endif
  return text;
}

std::string file_mask_text() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return formatted("{:o}", mask);
}

std::string environment_text() {
  std::vector<std::string> entries = environment_entries();
  std::ranges::sort(entries);
  return join(entries, "\n");
}

std::string file_text(const char* path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The descriptors that are open, apart from the one with which the folder is read.
std::string descriptors_text() {
  std::string text;
  for (const std::string& name : names_in("/proc/self/fd")) {
    const std::string target = target_of(fs::path("/proc/self/fd") / name);
    if (target != "closed") text += name + " -> " + target + ", ";
  }
  return text;
}

std::string files_text() {
  std::error_code failure;
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(".", failure)) {
    text += entry.path().string() + " ";
  }
  return text;
}

std::string shortened(const std::string& text) {
  constexpr size_t kLongest = 150;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

// Where two texts begin to differ, for messages.
std::string around_difference(const std::string& text, const std::string& other) {
  const auto [at, ignored] = std::ranges::mismatch(text, other);
  const size_t from = static_cast<size_t>(at - text.begin());
  const size_t begin = text.size() <= 150 ? 0 : from - std::min<size_t>(from, 40);
  return quote(shortened(text.substr(begin)));
}

}  // namespace

ProcessState ProcessState::settings() {
  ProcessState state;
  std::error_code ignored;
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    state.values_[formatted("the handler of signal {}", signal)] = handler_text(signal);
  }
  state.values_["the signal mask"] = mask_text();
  state.values_["the floating-point control"] = floating_point_text();
  state.values_["the locale"] = std::setlocale(LC_ALL, nullptr);
  state.values_["the working directory"] = fs::current_path(ignored).string();
  state.values_["the file mode mask"] = file_mask_text();
  state.values_["the environment"] = environment_text();
  for (int stream = 0; stream < 3; ++stream) {
    state.values_[formatted("the standard stream {}", stream)] =
        target_of(formatted("/proc/self/fd/{}", stream));
  }
  return state;
}

ProcessState ProcessState::everything() {
  ProcessState state = settings();
  state.values_["the number of threads"] = std::to_string(names_in("/proc/self/task").size());
  state.values_["the child processes"] =
      file_text(formatted("/proc/self/task/{}/children", this_process()).c_str());
  state.values_["the open descriptors"] = descriptors_text();
  state.values_["the files in the working directory"] = files_text();
  return state;
}

std::vector<std::string> ProcessState::differences(const ProcessState& after) const {
  std::vector<std::string> found;
  for (const auto& [name, value] : values_) {
    const auto now = after.values_.find(name);
    if (now == after.values_.end() || now->second == value) continue;
    found.push_back(formatted("{}: {} before and {} after", name,
                              around_difference(value, now->second),
                              around_difference(now->second, value)));
  }
  return found;
}

void judge_state(const ProcessState& before, const ProcessState& after, const std::string& during,
                 Report& report) {
  for (const std::string& difference : before.differences(after)) {
    report.fail(formatted("{} changed {}", during, difference),
                "restore it before the function returns, or do without");
  }
}

ResourceCounts ResourceCounts::now() {
  return_freed_memory();
  ResourceCounts counts;
  counts.descriptors = names_in("/proc/self/fd").size();
  counts.threads = names_in("/proc/self/task").size();
  const std::string maps = file_text("/proc/self/maps");
  counts.mappings = static_cast<size_t>(std::ranges::count(maps, '\n'));
  std::istringstream statm(file_text("/proc/self/statm"));
  size_t size = 0;
  size_t resident = 0;
  statm >> size >> resident;
  counts.resident_bytes = resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const struct mallinfo2 heap = ::mallinfo2();
  counts.allocated_bytes = heap.uordblks + heap.hblkhd;
  return counts;
}

void judge_growth(int rounds, const std::string& what, Report& report,
                  const std::function<void()>& round) {
  const auto n = static_cast<size_t>(rounds);
  const size_t some = std::max<size_t>(1, n / 2);
  struct Kind {
    std::string_view name;
    size_t ResourceCounts::*count;
    size_t least;  // growth of a repetition that cannot be chance
  };
  const std::array kinds = {
      Kind{"descriptors", &ResourceCounts::descriptors, some},
      Kind{"threads", &ResourceCounts::threads, some},
      Kind{"mappings", &ResourceCounts::mappings, some},
      Kind{"resident bytes", &ResourceCounts::resident_bytes, 4096 * n},
      Kind{"allocated bytes", &ResourceCounts::allocated_bytes, std::max<size_t>(64 * n, 1024)}};
  std::vector<ResourceCounts> counts;
  const auto repeat = [&] {
    for (int i = 0; i < rounds; ++i) round();
    counts.push_back(ResourceCounts::now());
  };
  const auto grows = [&](const Kind& kind) {
    return std::ranges::adjacent_find(counts, [&](const auto& before, const auto& after) {
             return after.*kind.count < before.*kind.count + kind.least;
           }) == counts.end();
  };
  constexpr size_t kRepetitions = 3;  // caches fill in the first
  constexpr size_t kSuspicious = 12;  // they still fill, such as malloc's own, or it leaks
  while (counts.size() < kRepetitions ||
         (counts.size() < kSuspicious && std::ranges::any_of(kinds, grows))) {
    repeat();
  }
  for (const Kind& kind : kinds) {
    const size_t last = counts.back().*kind.count;
    report.note(formatted("{} after {} rounds", kind.name, counts.size() * n),
                static_cast<double>(last));
    if (!grows(kind)) continue;
    report.fail(formatted("{} {} times lets the {} grow from {} to {}", what,
                          (counts.size() - 1) * n, kind.name, counts.front().*kind.count, last),
                "free, close, join or unmap what each round leaves behind");
  }
}

}  // namespace ephost::conformance
