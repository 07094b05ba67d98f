// The constants that a payload names, as eph_ep_context lists them: names and values with all that
// they point to.
#pragma once

#include <ephost/plugin_abi.h>

#include <span>
#include <string>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::bridge {

class OutsideConstants {
 public:
  // As many names as tensors, which share their data.
  OutsideConstants(std::vector<std::string> names, std::vector<graph::Tensor> tensors);
  OutsideConstants(const OutsideConstants&) = delete;
  OutsideConstants& operator=(const OutsideConstants&) = delete;

  // Lives as long as the object.
  [[nodiscard]] std::span<const eph_named_value> list() const { return list_; }

 private:
  std::vector<std::string> names_;
  std::vector<graph::Tensor> tensors_;
  std::vector<std::vector<eph_string>> strings_;  // of tensors of strings
  std::vector<eph_value> values_;
  std::vector<eph_named_value> list_;
};

}  // namespace ephost::bridge
