#include "host/base/threads/thread_affinity.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/base/threads/thread_pool.h"

namespace ephost {
namespace {

// Splits the text at the separator; there is one part more than separators.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

// Numbered from 1. False if it is not a processor's number.
bool read_processor(std::string_view text, uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 1 &&
         number <= CPU_SETSIZE;
}

bool add_range(std::string_view text, Processors& processors) {
  const std::vector<std::string_view> ends = split(text, '-');
  uint32_t first = 0;
  uint32_t last = 0;
  if (ends.size() > 2 || !read_processor(ends.front(), first) ||
      !read_processor(ends.back(), last) || first > last) {
    return false;
  }
  for (uint32_t number = first; number <= last; ++number) processors.push_back(number - 1);
  return true;
}

std::string names_of(const Processors& processors) {
  std::vector<std::string> names;
  for (const uint32_t processor : processors) names.push_back(std::to_string(processor + 1));
  return join(names, ", ");
}

// What remains of the group on a thread that is bound to it.
Processors usable(const Processors& wanted) {
  cpu_set_t bound;
  CPU_ZERO(&bound);
  if (!bind_this_thread(wanted) || ::sched_getaffinity(0, sizeof(bound), &bound) != 0) return {};
  Processors left;
  for (const uint32_t processor : wanted) {
    if (CPU_ISSET(processor, &bound)) left.push_back(processor);
  }
  return left;
}

}  // namespace

Result<std::vector<Processors>> parse_thread_affinities(std::string_view text) {
  std::vector<Processors> affinities;
  for (const std::string_view group : split(text, ';')) {
    Processors& processors = affinities.emplace_back();
    for (const std::string_view range : split(group, ',')) {
      if (add_range(range, processors)) continue;
      return Status(StatusCode::kInvalidArgument,
                    formatted("the thread affinities {} are not valid at {}; write the processors "
                              "of each thread as numbers from 1 to {} or ranges, e.g. \"1,2;3-5\"",
                              quote(text), quote(range), CPU_SETSIZE));
    }
    std::ranges::sort(processors);
    processors.erase(std::unique(processors.begin(), processors.end()), processors.end());
    if (affinities.size() < ThreadPool::kMaxThreads) continue;
    return Status(StatusCode::kInvalidArgument,
                  formatted("the thread affinities {} are for more than {} threads; there are no "
                            "more besides the calling one",
                            quote(text), ThreadPool::kMaxThreads - 1));
  }
  return affinities;
}

std::string drop_unusable_processors(std::vector<Processors>& affinities) {
  if (affinities.empty()) return {};
  Processors dropped;
  try {
    // On a thread of its own, which is bound to one group after the other.
    std::thread([&] {
      for (Processors& wanted : affinities) {
        Processors left = usable(wanted);
        std::ranges::set_difference(wanted, left, std::back_inserter(dropped));
        wanted = std::move(left);
      }
    }).join();
  } catch (const std::system_error&) {
    return {};  // then the threads of the pool cannot be started either
  }
  if (dropped.empty()) return {};
  std::ranges::sort(dropped);
  dropped.erase(std::unique(dropped.begin(), dropped.end()), dropped.end());
  return formatted(
      "the thread affinities name processors that this process may not use: {}; its "
      "threads run on the others, or on any where none is left",
      names_of(dropped));
}

bool bind_this_thread(const Processors& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const uint32_t processor : processors) {
    if (processor < CPU_SETSIZE) CPU_SET(processor, &set);
  }
  return ::sched_setaffinity(0, sizeof(set), &set) == 0;
}

}  // namespace ephost
