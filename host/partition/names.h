// Names of partitions: unique and deterministic. Used by partition.cc only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace ephost::partition {

class PartitionNamer {
 public:
  PartitionNamer(std::string_view prefix, std::span<const std::string> taken);

  // Returns `prefix + suggested`, with "_2", "_3", ... appended if that is taken, or, without a
  // suggestion, `prefix + stem + "_" + n` with n starting at 0. A suggestion that a model cannot
  // carry (not UTF-8, control characters, over 256 bytes) is ignored.
  [[nodiscard]] std::string name(std::string_view suggested, std::string_view stem);

 private:
  [[nodiscard]] std::string numbered(std::string_view stem, uint64_t first);

  std::string prefix_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, uint64_t, std::less<>> next_;  // by stem: the next number to try
};

}  // namespace ephost::partition
