#include "host/cli/report/output.h"

#include <array>
#include <cstdio>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/cli/report/json.h"

namespace ephost::cli {
namespace {

bool prints_json = false;

void write_printable(std::string_view text, std::FILE* stream) {
  const std::string safe = printable(text);
  std::fwrite(safe.data(), 1, safe.size(), stream);
}

}  // namespace

void print_errors_as_json(bool as_json) { prints_json = as_json; }

void print_error(const Status& status, int exit_status) {
  const std::string_view code = status_code_name(status.code());
  std::fflush(stdout);
  if (prints_json) {
    const Json error = {
        {"code", code}, {"message", status.message()}, {"exit_status", exit_status}};
    print_notice(printable_json(Json{{"error", error}}.dump()) + "\n");
  } else {
    print_notice(formatted("error[{}]: {}\n", code, status.message()));
  }
}

void print(std::string_view text) { write_printable(text, stdout); }

void print_notice(std::string_view text) { write_printable(text, stderr); }

Status write_text(const std::filesystem::path& file, std::string_view text) {
  if (!file.empty()) return write_file_atomically(file, as_bytes(printable(text)));
  print(text);
  return Status::ok_status();
}

Status flush_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return Status::ok_status();
  return Status(StatusCode::kFail,
                "standard output could not be written in full; check the disk or pipe behind it");
}

std::string counted(uint64_t count, std::string_view noun) {
  return formatted("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return formatted("{} B", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  return formatted("{:.{}f} {}", amount, amount < 100 ? 1 : 0, kUnits[unit]);
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
  return formatted("{:.{}f} {}", amount, digits, unit);
}

std::string fixed(double number, int digits) { return formatted("{:.{}f}", number, digits); }

std::string compact(double number, int digits) { return formatted("{:.{}g}", number, digits); }

}  // namespace ephost::cli
