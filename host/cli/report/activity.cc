#include "host/cli/report/activity.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/terminal.h"
#include "host/cli/report/output.h"

namespace ephost::cli {

namespace {

constexpr auto kDelay = std::chrono::seconds(1);
constexpr auto kPeriod = std::chrono::milliseconds(250);

// Moves to the first column and clears the rest of the line.
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

Activity::Activity(std::string what, bool enabled) : what_(std::move(what)) {
  if (enabled && is_terminal(kStandardError)) thread_ = std::thread([this] { show(); });
}

Activity::~Activity() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Activity::update(std::string what) {
  const std::scoped_lock lock(mutex_);
  what_ = std::move(what);
}

void Activity::follow(SessionOptions& options) {
  if (!thread_.joinable()) return;
  // An empty message leaves the previous one in place.
  options.set_progress_func([this, what = what_, last = std::string()](
                                std::string_view provider, double fraction,
                                std::string_view message) mutable {
    if (!message.empty()) last = message;
    const bool is_host = provider == kHostCategory;
    update(is_host
               ? formatted("{}, {}", what, last)
               : formatted("{}, {} {} {} %", what, provider, last, std::lround(fraction * 100)));
  });
}

void Activity::show() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kDelay, [this] { return done_; })) return;
  do {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "%s%s ... %.0f s", kClearLine, printable(what_).c_str(), elapsed.count());
    std::fflush(stderr);
  } while (!changed_.wait_for(lock, kPeriod, [this] { return done_; }));
  std::fputs(kClearLine, stderr);
  std::fflush(stderr);
}

}  // namespace ephost::cli
