// Points in time as text, for reports and messages.
#pragma once

#include <cstdint>
#include <string>

namespace ephost {

// "2027-01-31T00:00:00Z" for seconds since 1970; the number itself where the calendar ends.
[[nodiscard]] std::string utc_text(int64_t seconds);

}  // namespace ephost
