#include "host/layers/validate/lent/constant_checksums.h"

#include <cstddef>
#include <span>

#include "host/base/text.h"

namespace ephost::layers {
namespace {

Hash128 checksum_of(const void* data, uint64_t size) {
  return content_checksum({static_cast<const std::byte*>(data), static_cast<size_t>(size)});
}

}  // namespace

void ConstantChecksums::add(eph_string name, const eph_value& constant) {
  if (constant.kind != EPH_KIND_TENSOR || constant.data == nullptr || constant.byte_size == 0) {
    return;
  }
  const auto [known, is_new] = constants_.try_emplace(constant.data);
  if (!is_new) return;
  known->second = {std::string(name.data, static_cast<size_t>(name.size)), constant.byte_size,
                   checksum_of(constant.data, constant.byte_size)};
}

void ConstantChecksums::add(const ConstantChecksums& other) {
  constants_.insert(other.constants_.begin(), other.constants_.end());
}

void ConstantChecksums::add(const eph_named_value* constants, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) add(constants[i].name, *constants[i].value);
}

std::vector<Finding> ConstantChecksums::findings() {
  std::vector<Finding> found;
  for (auto& [data, constant] : constants_) {
    const Hash128 now = checksum_of(data, constant.size);
    if (now == constant.checksum) continue;
    constant.checksum = now;
    found.push_back({20, "changed the constant " + quote(constant.name),
                     "constants are the host's: copy them before they are changed"});
  }
  return found;
}

}  // namespace ephost::layers
