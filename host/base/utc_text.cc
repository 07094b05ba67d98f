#include "host/base/utc_text.h"

#include <array>
#include <ctime>

namespace ephost {

std::string utc_text(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  struct tm parts {};
  std::array<char, 40> text{};
  if (::gmtime_r(&time, &parts) == nullptr) return std::to_string(seconds);
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace ephost
