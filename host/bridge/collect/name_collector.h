// Collector of the names that a provider lists in list_partitions (ephost.shared_contexts/1).
#pragma once

#include <ephost/ext/shared_contexts.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ephost::bridge {

// The eph_name_list of one call.
class NameCollector : public eph_name_list {
 public:
  NameCollector();
  NameCollector(const NameCollector&) = delete;
  NameCollector& operator=(const NameCollector&) = delete;

  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  static int32_t add(eph_name_list* handle, eph_string name, eph_error* error) noexcept;
  static const eph_name_list_api kApi;

  std::vector<std::string> names_;
};

}  // namespace ephost::bridge
