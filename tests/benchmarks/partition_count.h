// The cost of sessions by the number of partitions: a chain of nodes that the scripted provider
// cuts into 1, 10, 100 and 1,000 partitions of equal size. The time must grow linearly.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace ephost::benchmarks {

inline constexpr size_t kPartitionCounts[] = {1, 10, 100, 1000};

// Counts larger than the chain are left out.
void register_partition_counts(const std::filesystem::path& chain, size_t nodes,
                               const std::filesystem::path& work);

}  // namespace ephost::benchmarks
