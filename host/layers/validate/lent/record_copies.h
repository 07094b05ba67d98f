// Copies of the records that a plugin is passed for the time of a call, with all that they point
// to, but for the data of constants. What is passed again stays in the arena.
#pragma once

#include <ephost/ext/run.h>
#include <ephost/plugin_abi.h>

#include <cstdint>

#include "host/layers/validate/lent/arena.h"
#include "host/layers/validate/lent/payload_copies.h"

namespace ephost::layers {

// Each throws std::bad_alloc if memory runs out. The records are the host's, of this minor version.
[[nodiscard]] const eph_option* copy_options(Arena& arena, const eph_option* options,
                                             uint64_t count);
// The copies lie sizeof(eph_device) apart.
[[nodiscard]] const eph_device* copy_devices(Arena& arena, const eph_device* devices,
                                             uint64_t stride, uint64_t count);
[[nodiscard]] const eph_provider_config* copy_config(Arena& arena,
                                                     const eph_provider_config& config);
[[nodiscard]] const eph_run_config* copy_run_config(Arena& arena, const eph_run_config& config);
// The copies lie sizeof(eph_partition) apart; graphs stay as they are, and payloads are among those
// of the provider.
[[nodiscard]] const eph_partition* copy_partitions(Arena& arena, PayloadCopies& payloads,
                                                   const eph_partition* partitions, uint64_t stride,
                                                   uint64_t count);

}  // namespace ephost::layers
