// Exit statuses of the programs, by which scripts can tell what kind of thing went wrong. The
// README of this folder and the manual pages list them.
#pragma once

#include <ephost/status.h>

#include <span>
#include <string>
#include <string_view>

namespace ephost::cli {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInput = 4;  // 3 stays free: it once meant that `verify` found no checksum
inline constexpr int kExitPlugin = 5;
inline constexpr int kExitDevice = 6;
inline constexpr int kExitOpenShapes = 7;
inline constexpr int kExitOutOfMemory = 8;
inline constexpr int kExitDeviceLost = 9;
inline constexpr int kExitCancelled = 10;
inline constexpr int kExitInternal = 70;    // as EX_SOFTWARE of <sysexits.h>
inline constexpr int kExitTimeLimit = 124;  // as timeout(1)
inline constexpr int kExitSignal = 128;     // and the number of the signal, as shells have it

// The status for a failure, which must not be success. A signal that ended the work goes before the
// code, whatever the work made of it.
[[nodiscard]] int exit_status_of(const Status& failure);

struct ExitStatus {
  std::string status;  // "0", "128+N"
  std::string_view meaning;
};
[[nodiscard]] std::span<const ExitStatus> exit_statuses();

}  // namespace ephost::cli
