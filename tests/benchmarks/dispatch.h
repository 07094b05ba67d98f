// The host's overhead for each node: runs of a chain of tiny nodes (Add, Mul and Relu on [1,16]) on
// the CPU provider, with bound inputs and outputs, by one thread. The kernels' own work is
// included.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace ephost::benchmarks {

inline constexpr std::string_view kDispatch = "dispatch/run";

void register_dispatch(const std::filesystem::path& chain);

}  // namespace ephost::benchmarks
