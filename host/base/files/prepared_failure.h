// A failure that is written into the file of failures (failure_records.h) when it ends the process:
// by a signal handler, which may neither allocate memory nor take a lock of the process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/base/files/failure_records.h"

namespace ephost {

class PreparedFailure {
 public:
  // `record` without its time and what happened.
  PreparedFailure(const FailureRecords& records, const FailureRecord& record);

  // Appends the record with the present time and `what`, in which '?' stands for '%' and control
  // characters. Makes the folder if it is missing, for this user alone. Gives up where the file is
  // full, is not an ordinary one of this user, or others have it locked for a tenth of a second.
  // May be called by signal handlers.
  void append(std::string_view what) const noexcept;

  friend bool operator==(const PreparedFailure&, const PreparedFailure&) = default;

 private:
  std::string file_;
  std::string lock_file_;
  std::vector<std::string> folders_;  // that the file is in, outermost first
  std::string fields_;                // of the line, between the time and what happened
};

}  // namespace ephost
