// Checksums of constants, which belong to the host: a plugin may read them and nothing else.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/base/hash.h"
#include "host/layers/validate/finding.h"

namespace ephost::layers {

// Not thread-safe. Borrows the data of all constants.
class ConstantChecksums {
 public:
  // Notes how a tensor is now, unless it is known already. Others than tensors with data have
  // nothing to note.
  void add(eph_string name, const eph_value& constant);
  void add(const ConstantChecksums& other);
  // Those of a context.
  void add(const eph_named_value* constants, uint64_t count);

  // What has changed since it was noted; each change is found once.
  [[nodiscard]] std::vector<Finding> findings();

 private:
  struct Constant {
    std::string name;
    uint64_t size = 0;
    Hash128 checksum;
  };
  std::map<const void*, Constant> constants_;  // by their data
};

}  // namespace ephost::layers
