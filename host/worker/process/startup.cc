#include "host/worker/process/startup.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <vector>

#include "host/base/printable.h"

namespace ephost::worker {
namespace {

constexpr size_t kMaxTexts = 4096;
constexpr size_t kMaxReportText = 1024;
constexpr size_t kMaxSentences = 64;

class Writer {
 public:
  void add(uint64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(std::string_view text) {
    add(text.size());
    bytes_.append(text);
  }
  void add(const std::vector<std::filesystem::path>& paths) {
    add(paths.size());
    for (const auto& path : paths) add(std::string_view(path.native()));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Numbers and texts in their order; once something is missing, everything after it is empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  uint64_t number() {
    uint64_t number = 0;
    if (rest_.size() < sizeof number) return fail(), 0;
    std::memcpy(&number, rest_.data(), sizeof number);
    rest_.remove_prefix(sizeof number);
    return number;
  }
  std::string text() {
    const uint64_t size = number();
    if (size > rest_.size()) return fail(), std::string();
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  std::vector<std::string> texts(size_t most) {
    const uint64_t count = number();
    if (count > most) return fail(), std::vector<std::string>();
    std::vector<std::string> texts;
    for (uint64_t i = 0; i < count && is_ok_; ++i) texts.push_back(text());
    return texts;
  }
  [[nodiscard]] Status status() const {
    if (is_ok_ && rest_.empty()) return Status::ok_status();
    return Status(StatusCode::kFail, "the message at the start of a worker is malformed");
  }

 private:
  void fail() {
    is_ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool is_ok_ = true;
};

std::vector<std::filesystem::path> paths_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

std::string shown(const std::string& text) {
  return printable_line(std::string_view(text).substr(0, kMaxReportText));
}

}  // namespace

std::string encode(const StartOrder& order) {
  Writer writer;
  writer.add(order.limits.memory);
  writer.add(order.limits.cpu_seconds);
  writer.add(order.limits.open_files);
  writer.add(order.limits.threads);
  writer.add(uint64_t{order.sandbox.has_value()});
  const SandboxRules rules = order.sandbox.value_or(SandboxRules());
  writer.add(rules.readable);
  writer.add(rules.writable);
  return writer.take();
}

Result<StartOrder> decode_order(std::string_view bytes) {
  Reader reader(bytes);
  StartOrder order;
  order.limits.memory = reader.number();
  order.limits.cpu_seconds = reader.number();
  order.limits.open_files = reader.number();
  order.limits.threads = reader.number();
  const bool has_sandbox = reader.number() != 0;
  SandboxRules rules;
  rules.readable = paths_of(reader.texts(kMaxTexts));
  rules.writable = paths_of(reader.texts(kMaxTexts));
  if (has_sandbox) order.sandbox = std::move(rules);
  EPHOST_RETURN_IF_ERROR(reader.status());
  return order;
}

std::string encode(const ReadyReport& report) {
  Writer writer;
  writer.add(report.failure);
  writer.add(report.sandbox.missing.size());
  for (const std::string& sentence : report.sandbox.missing) writer.add(sentence);
  return writer.take();
}

Result<ReadyReport> decode_report(std::string_view bytes) {
  Reader reader(bytes);
  ReadyReport report;
  report.failure = shown(reader.text());
  for (const std::string& sentence : reader.texts(kMaxSentences)) {
    report.sandbox.missing.push_back(shown(sentence));
  }
  EPHOST_RETURN_IF_ERROR(reader.status());
  return report;
}

}  // namespace ephost::worker
