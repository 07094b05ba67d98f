#include "host/bridge/model_view.h"

#include "host/bridge/abi_text.h"

namespace ephost::bridge {

ModelView::ModelView(const graph::Model& model) : model_(model) {
  opsets_.reserve(model.opset_imports.size());
  for (const auto& [domain, version] : model.opset_imports) {
    opsets_.push_back({to_abi(domain), version});
  }
  metadata_.reserve(model.metadata.size());
  for (const auto& [key, value] : model.metadata) metadata_.push_back({to_abi(key), to_abi(value)});
}

}  // namespace ephost::bridge
