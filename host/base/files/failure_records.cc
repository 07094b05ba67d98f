#include "host/base/files/failure_records.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "host/base/environment.h"
#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/files/file_lock.h"
#include "host/base/files/ownership.h"
#include "host/base/files/private_files.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFields = 6;

std::string encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '%') {
      encoded += formatted("%{:02x}", byte);
    } else {
      encoded += c;
    }
  }
  return encoded;
}

// Nothing if the text was not made by `encoded`.
std::optional<std::string> decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) return {};
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

std::optional<FailureRecord> parse_line(std::string_view line) {
  std::array<std::string_view, kFields> fields;
  for (size_t i = 0; i < kFields; ++i) {
    const size_t end = line.find('\t');
    if ((end == std::string_view::npos) != (i + 1 == kFields)) return std::nullopt;
    fields[i] = line.substr(0, end);
    line.remove_prefix(std::min(fields[i].size() + 1, line.size()));
  }
  FailureRecord record;
  const auto [end, error] =
      std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), record.time);
  if (error != std::errc() || end != fields[0].data() + fields[0].size()) return std::nullopt;
  const std::array<std::string*, kFields - 1> texts = {
      &record.name, &record.manifest, &record.files, &record.program, &record.what};
  for (size_t i = 0; i < texts.size(); ++i) {
    std::optional<std::string> text = decoded(fields[i + 1]);
    if (!text) return std::nullopt;
    *texts[i] = std::move(*text);
  }
  return record;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return lines;
}

// A lock of all processes that write the file, on a file beside it that is never replaced.
class WriteLock {
 public:
  static Result<WriteLock> take(const fs::path& path) {
    const int descriptor =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (descriptor < 0) return file_error("open", path, errno);
    WriteLock lock(descriptor);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    for (;;) {
      const LockOutcome outcome = try_lock(descriptor, LockMode::kExclusive, posix_file_system());
      if (outcome == LockOutcome::kTaken) return lock;
      if (outcome == LockOutcome::kFailed) return file_error("lock", path, errno);
      if (std::chrono::steady_clock::now() > end) return file_error("lock", path, EWOULDBLOCK);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  WriteLock(WriteLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  WriteLock& operator=(WriteLock&&) = delete;
  ~WriteLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

 private:
  explicit WriteLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

Status nowhere_to_write() {
  return Status(StatusCode::kNoSuchFile,
                "cannot find the state directory of this user; set HOME or XDG_STATE_HOME");
}

}  // namespace

std::string program_of_process() {
  std::error_code ignored;
  std::string program = fs::read_symlink("/proc/self/exe", ignored).native();
  if (program.empty()) program = "an unknown program";
  // Only a script is taken from the arguments, as others may be secret.
  std::ifstream arguments("/proc/self/cmdline", std::ios::binary);
  std::string argument;
  std::getline(arguments, argument, '\0');
  if (std::getline(arguments, argument, '\0') && fs::is_regular_file(argument, ignored)) {
    program += " " + argument;
  }
  return formatted("{} (process {})", program, ::getpid());
}

fs::path FailureRecords::default_file() {
  const fs::path state = user_folder(UserFolder::kState);
  return state.empty() ? state : state / "ephost" / "failures";
}

FailureRecords::Content FailureRecords::read() const {
  Content content;
  std::error_code ignored;
  if (file_.empty() || !fs::exists(file_, ignored)) return content;
  const auto give_up = [&](const Status& status) {
    if (status.code() != StatusCode::kNoSuchFile) content.problem = status.message();
    return content;
  };
  if (const Status owner = check_ownership(file_); !owner.ok()) return give_up(owner);
  const Result<std::string> text = read_file(file_, kMostBytes);
  if (!text.ok()) return give_up(text.status());
  const std::vector<std::string_view> lines = lines_of(*text);
  size_t bad = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    std::optional<FailureRecord> record = parse_line(lines[i]);
    if (record) {
      content.records.push_back(std::move(*record));
    } else {
      ++bad;
    }
  }
  if (content.records.size() > kMostRecords) {
    content.records.erase(content.records.begin(), content.records.end() - kMostRecords);
  }
  if (lines.empty() || lines.front() != kFirstLine) {
    content.records.clear();
    content.problem = quote(file_.native()) + " is not a file of failures of this version";
  } else if (bad > 0) {
    content.problem = formatted("{} lines of {} are damaged", bad, quote(file_.native()));
  }
  return content;
}

Status FailureRecords::write(const std::vector<FailureRecord>& records) const {
  std::string text = std::string(kFirstLine) + "\n";
  size_t size = text.size();
  auto first = records.end();
  const size_t most = std::min(records.size(), kMostRecords);
  while (static_cast<size_t>(records.end() - first) < most) {
    size += line_of(*(first - 1)).size();
    if (size > kMostBytes) break;
    --first;
  }
  for (; first != records.end(); ++first) text += line_of(*first);
  return write_file_atomically(file_, as_bytes(text), private_file_system());
}

Status FailureRecords::add(FailureRecord record) const {
  if (file_.empty()) return nowhere_to_write();
  if (record.what.size() > kMostText) record.what.resize(kMostText);
  EPHOST_RETURN_IF_ERROR(make_private_folders(file_.parent_path()));
  EPHOST_ASSIGN_OR_RETURN(const WriteLock lock, WriteLock::take(lock_file()));
  std::vector<FailureRecord> records = read().records;
  records.push_back(std::move(record));
  return write(records);
}

Status FailureRecords::shorten() const {
  std::error_code failure;
  const uintmax_t size = fs::file_size(file_, failure);
  if (failure || size <= kMostBytes / 2) return {};
  EPHOST_ASSIGN_OR_RETURN(const WriteLock lock, WriteLock::take(lock_file()));
  return write(read().records);
}

std::string FailureRecords::line_of(const FailureRecord& record) {
  return formatted("{}\t{}\t{}\t{}\t{}\t{}\n", record.time, encoded(record.name),
                   encoded(record.manifest), encoded(record.files), encoded(record.program),
                   encoded(record.what));
}

Result<size_t> FailureRecords::remove(std::string_view name) const {
  std::error_code ignored;
  if (file_.empty() || !fs::exists(file_, ignored)) return size_t{0};
  EPHOST_ASSIGN_OR_RETURN(const WriteLock lock, WriteLock::take(lock_file()));
  std::vector<FailureRecord> records = read().records;
  const size_t removed = std::erase_if(
      records, [&](const FailureRecord& record) { return name.empty() || record.name == name; });
  EPHOST_RETURN_IF_ERROR(write(records));
  return removed;
}

}  // namespace ephost
