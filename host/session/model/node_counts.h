// The number of nodes of a prepared model that each provider runs.
#pragma once

#include <ephost/types/session_provider.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/session/model/prepared_model.h"

namespace ephost::session {

// The host among the owners of nodes.
inline constexpr std::string_view kHostName = "host";

// By the name of the provider, or of the host, whose are those of control flow only.
[[nodiscard]] std::map<std::string, uint64_t> count_nodes(const PreparedModel& prepared);

// The providers of a partitioned model, in priority order.
[[nodiscard]] std::vector<SessionProvider> describe_providers(const PreparedModel& prepared);

}  // namespace ephost::session
