// The facts about a model that all of its graphs share, as plugins see them: opsets and metadata.
// Made once for a model and shared by the views of its graphs and partitions, of which there may be
// thousands.
#pragma once

#include <ephost/plugin_abi.h>

#include <vector>

#include "host/graph/graph.h"

namespace ephost::bridge {

// Borrows the model, whose opsets, metadata, symbols and functions must not change meanwhile.
class ModelView {
 public:
  explicit ModelView(const graph::Model& model);
  ModelView(const ModelView&) = delete;
  ModelView& operator=(const ModelView&) = delete;

  [[nodiscard]] const graph::Model& model() const { return model_; }
  [[nodiscard]] const std::vector<eph_opset>& opsets() const { return opsets_; }
  [[nodiscard]] const std::vector<eph_key_value>& metadata() const { return metadata_; }

 private:
  const graph::Model& model_;
  std::vector<eph_opset> opsets_;
  std::vector<eph_key_value> metadata_;
};

}  // namespace ephost::bridge
