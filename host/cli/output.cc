#include "host/cli/output.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "host/base/file.h"
#include "host/base/text.h"

namespace ephost::cli {
namespace {

std::string hex_escape(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 0xf];
}

// 0 behind the end.
unsigned char byte_at(std::string_view text, size_t index) {
  return index < text.size() ? static_cast<unsigned char>(text[index]) : 0;
}

template <class... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, arguments...);
  return buffer.data();
}

}  // namespace

void print_error(const Status& status) {
  const std::string line = "error[" + std::string(status_code_name(status.code())) +
                           "]: " + printable(status.message()) + "\n";
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status write_text(const std::filesystem::path& file, std::string_view text) {
  if (!file.empty()) return write_file_atomically(file, as_bytes(text));
  print(text);
  return Status::ok_status();
}

Status flush_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return Status::ok_status();
  return Status(StatusCode::kFail,
                "standard output could not be written in full; check the disk or pipe behind it");
}

std::string printable(std::string_view text) {
  const bool is_utf8 = is_valid_utf8(text);
  std::string safe;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char byte = byte_at(text, i);
    // U+0080 to U+009F are control characters too; UTF-8 writes them as C2 80 to C2 9F.
    const bool is_control = (byte < 0x20 && byte != '\n') || byte == 0x7f ||
                            (byte == 0xc2 && byte_at(text, i + 1) < 0xa0) ||
                            (byte < 0xa0 && byte >= 0x80 && i > 0 && byte_at(text, i - 1) == 0xc2);
    if (is_control || (!is_utf8 && byte >= 0x80)) {
      safe += hex_escape(byte);
    } else {
      safe += text[i];
    }
  }
  return safe;
}

std::string counted(uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  return formatted("%.*f %s", amount < 100 ? 1 : 0, amount, kUnits[unit]);
}

std::string seconds_text(double seconds) {
  const char* unit = "s";
  double amount = seconds;
  if (seconds < 1e-3) {
    amount = seconds * 1e6;
    unit = "us";
  } else if (seconds < 1) {
    amount = seconds * 1e3;
    unit = "ms";
  }
  const int digits = amount < 10 ? 2 : amount < 100 ? 1 : 0;
  return formatted("%.*f %s", digits, amount, unit);
}

std::string fixed(double number, int digits) { return formatted("%.*f", digits, number); }

std::string compact(double number, int digits) { return formatted("%.*g", digits, number); }

}  // namespace ephost::cli
