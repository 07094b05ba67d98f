#include "host/bridge/outside_constants.h"

#include <cassert>
#include <utility>

#include "host/bridge/abi_text.h"
#include "host/bridge/graph_view.h"

namespace ephost::bridge {

OutsideConstants::OutsideConstants(std::vector<std::string> names,
                                   std::vector<graph::Tensor> tensors)
    : names_(std::move(names)), tensors_(std::move(tensors)) {
  assert(names_.size() == tensors_.size());
  strings_.resize(tensors_.size());
  values_.reserve(tensors_.size());
  list_.reserve(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].strings) {
      for (const std::string& text : *tensors_[i].strings) strings_[i].push_back(to_abi(text));
    }
    values_.push_back(constant_value(tensors_[i], strings_[i]));
    list_.push_back({to_abi(names_[i]), &values_.back()});
  }
}

}  // namespace ephost::bridge
