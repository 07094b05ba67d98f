// The provider that every session has, as the last one, unless its model is compiled throughout.
#pragma once

#include <string_view>

namespace ephost::session {

inline constexpr std::string_view kCpuProvider = "CPUExecutionProvider";

}  // namespace ephost::session
