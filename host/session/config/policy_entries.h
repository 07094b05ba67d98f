// Configuration entries that only ever become stricter: where plugins run, which signatures they
// need, when they are quarantined. An application, a selection and the command line may all set
// one, and none of them can loosen what another one demands.
#pragma once

#include <string>
#include <string_view>

namespace ephost::session {

// The value that an entry has once `known` and then `value` were set for it: the stricter of two
// policies; for another key, and where one is not a policy, `value`.
[[nodiscard]] std::string merge_entry(std::string_view key, std::string_view known,
                                      std::string value);

}  // namespace ephost::session
