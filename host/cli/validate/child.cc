#include "host/cli/validate/child.h"

#include <algorithm>
#include <array>
#include <cerrno>
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
    const ptrdiff_t count = read_some(descriptor.get(), buffer);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      descriptor.reset();
      return;
    }
    text.append({buffer.data(), static_cast<size_t>(count)});
  }
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
  SpawnPlan plan = {.program = argv.front(), .folder = folder};
  plan.arguments = std::move(argv);
  plan.descriptors = {{output.write_end.get(), kStandardOutput},
                      {output.write_end.get(), kStandardError},
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
    kill_group(pid_);
    wait_for_end(pid_);
    end_group();
  }
}

void Child::watch(std::vector<int>& watched) const {
  if (output_.is_open()) watched.push_back(output_.get());
  if (answer_.is_open()) watched.push_back(answer_.get());
}

void Child::read_all() {
  drain(output_, output_text_);
  drain(answer_, answer_text_);
}

std::optional<ChildEnd> Child::update() {
  read_all();
  if (!is_late_ && Clock::now() >= end_) {
    is_late_ = true;
    kill_group(pid_);
  }
  const std::optional<ProcessEnd> end = is_late_ ? wait_for_end(pid_) : end_so_far(pid_);
  if (!end) return std::nullopt;
  return finish(*end);
}

// Kills what is left of the process group; whether there was anything.
bool Child::end_group() {
  // Those that are about to end need not be killed.
  for (int i = 0; i < 20 && !is_group_empty(pid_); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (is_group_empty(pid_)) return false;
  kill_group(pid_);
  for (int i = 0; i < 400 && !is_group_empty(pid_); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

ChildEnd Child::finish(const ProcessEnd& process) {
  ChildEnd end;
  end.duration = Clock::now() - start_;
  end.process = process;
  end.is_late = is_late_;
  end.left_processes = end_group();
  read_all();
  end.answer = answer_text_.text();
  end.output = output_text_.text();
  pid_ = -1;
  return end;
}

OrphanKeeper::OrphanKeeper() { set_adopts_orphans(true); }

OrphanKeeper::~OrphanKeeper() {
  // Each round ends those that the round before has orphaned.
  for (int round = 0; round < 100; ++round) {
    const std::vector<ProcessId> left = child_processes();
    if (left.empty()) break;
    for (const ProcessId child : left) kill_process(child);
    for (const ProcessId child : left) wait_for_end(child);
  }
  set_adopts_orphans(false);
}

}  // namespace ephost::cli
