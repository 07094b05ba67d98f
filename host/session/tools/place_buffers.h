// The placement of buffers of <ephost/place_buffers.h>, and its CSV form.
#pragma once

#include <ephost/status.h>
#include <ephost/types/placement.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::session {

[[nodiscard]] Result<BufferPlacement> place_buffers(std::span<const BufferRequest> requests,
                                                    const BufferPlacementOptions& options = {});

[[nodiscard]] Result<std::vector<BufferRequest>> parse_buffer_requests(std::string_view csv,
                                                                       std::string_view name);

[[nodiscard]] std::string to_csv(std::span<const BufferRequest> requests,
                                 const BufferPlacement& placement);

}  // namespace ephost::session
