#include "host/cli/validate/child.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>
#include <utility>

#include "host/base/format.h"
#include "host/base/processes/pipe.h"
#include "host/base/processes/spawn.h"

namespace ephost::cli {
namespace {

constexpr int kAnswer = 3;  // in the child

// Appends what can be read now.
void drain(FileDescriptor& descriptor, BoundedText& text) {
  std::array<char, 65536> buffer{};
  // A process that never stops writing must not keep the others waiting.
  for (int round = 0; descriptor.is_open() && round < 64; ++round) {
    const ssize_t count = ::read(descriptor.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      descriptor.reset();
      return;
    }
    text.append({buffer.data(), static_cast<size_t>(count)});
  }
}

// The children of this process, as far as its first thread has started them or they were adopted.
std::vector<pid_t> children() {
  std::ifstream list(formatted("/proc/self/task/{}/children", ::getpid()));
  std::vector<pid_t> found;
  for (pid_t child = 0; list >> child;) found.push_back(child);
  return found;
}

}  // namespace

void BoundedText::append(std::string_view text) {
  constexpr size_t kFirst = size_t{512} * 1024;
  constexpr size_t kLast = size_t{64} * 1024;
  const size_t room = std::min(kFirst - std::min(kFirst, first_.size()), text.size());
  first_ += text.substr(0, room);
  last_ += text.substr(room);
  if (last_.size() <= kLast * 2) return;
  left_out_ += last_.size() - kLast;
  last_.erase(0, last_.size() - kLast);
}

std::string BoundedText::text() const {
  if (left_out_ == 0) return first_ + last_;
  return formatted("{}\n[{} bytes are left out here]\n{}", first_, left_out_, last_);
}

Result<Child> Child::start(std::vector<std::string> argv, const std::filesystem::path& folder,
                           std::chrono::seconds deadline) {
  Child child;
  EPHOST_ASSIGN_OR_RETURN(Pipe output, make_pipe());
  EPHOST_ASSIGN_OR_RETURN(Pipe answer, make_pipe());
  child.output_ = std::move(output.read_end);
  child.answer_ = std::move(answer.read_end);
  EPHOST_RETURN_IF_ERROR(set_nonblocking(child.output_));
  EPHOST_RETURN_IF_ERROR(set_nonblocking(child.answer_));
  SpawnPlan plan = {.program = argv.front(), .arguments = std::move(argv), .folder = folder};
  plan.descriptors = {{output.write_end.get(), STDOUT_FILENO},
                      {output.write_end.get(), STDERR_FILENO},
                      {answer.write_end.get(), kAnswer}};
  EPHOST_ASSIGN_OR_RETURN(child.pid_, spawn(plan));
  child.start_ = Clock::now();
  child.end_ = child.start_ + deadline;
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::move(other.output_)),
      answer_(std::move(other.answer_)),
      start_(other.start_),
      end_(other.end_),
      is_late_(other.is_late_),
      output_text_(std::move(other.output_text_)),
      answer_text_(std::move(other.answer_text_)) {}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    end_group();
  }
}

void Child::watch(std::vector<pollfd>& watched) const {
  if (output_.is_open()) watched.push_back({output_.get(), POLLIN, 0});
  if (answer_.is_open()) watched.push_back({answer_.get(), POLLIN, 0});
}

void Child::read_all() {
  drain(output_, output_text_);
  drain(answer_, answer_text_);
}

std::optional<ChildEnd> Child::update() {
  read_all();
  if (!is_late_ && Clock::now() >= end_) {
    is_late_ = true;
    ::kill(-pid_, SIGKILL);
  }
  int state = 0;
  const pid_t ended = ::waitpid(pid_, &state, is_late_ ? 0 : WNOHANG);
  if (ended != pid_) return std::nullopt;
  return finish(state);
}

// Kills what is left of the process group; whether there was anything.
bool Child::end_group() {
  const auto is_empty = [this] {
    while (::waitpid(-pid_, nullptr, WNOHANG) > 0) {
    }
    return ::kill(-pid_, 0) != 0;
  };
  // Those that are about to end need not be killed.
  for (int i = 0; i < 20 && !is_empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (is_empty()) return false;
  ::kill(-pid_, SIGKILL);
  for (int i = 0; i < 400 && !is_empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

ChildEnd Child::finish(int state) {
  ChildEnd end;
  end.duration = Clock::now() - start_;
  end.state = state;
  end.is_late = is_late_;
  end.left_processes = end_group();
  read_all();
  end.answer = answer_text_.text();
  end.output = output_text_.text();
  pid_ = -1;
  return end;
}

OrphanKeeper::OrphanKeeper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

OrphanKeeper::~OrphanKeeper() {
  // Each round ends those that the round before has orphaned.
  for (int round = 0; round < 100; ++round) {
    const std::vector<pid_t> left = children();
    if (left.empty()) break;
    for (const pid_t child : left) ::kill(child, SIGKILL);
    for (const pid_t child : left) ::waitpid(child, nullptr, 0);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace ephost::cli
