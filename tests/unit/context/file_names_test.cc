#include "host/context/file_names.h"

#include <gtest/gtest.h>

namespace ephost::context::file_names_test {
namespace {

TEST(ContextNames, TheDefaultNameReplacesOnlyTheFileExtension) {
  EXPECT_EQ(context_model_path("model.onnx"), "model_ctx.onnx");
  EXPECT_EQ(context_model_path("dir/model.onnx"), "dir/model_ctx.onnx");
  EXPECT_EQ(context_model_path("dir.v1/model"), "dir.v1/model_ctx.onnx");
  EXPECT_EQ(context_model_path("/dir.v1/model.ort"), "/dir.v1/model_ctx.onnx");
  EXPECT_EQ(context_model_path("a.b.onnx"), "a.b_ctx.onnx");
  EXPECT_EQ(context_model_path(".hidden"), ".hidden_ctx.onnx");
}

TEST(ContextNames, TheStemComesFromTheOutput) {
  EXPECT_EQ(context_model_stem("dir/model_ctx.onnx"), "model");
  EXPECT_EQ(context_model_stem("dir.v1/fast.onnx"), "fast");
  EXPECT_EQ(context_model_stem("dir/a.b_ctx.onnx"), "a.b");
  EXPECT_EQ(context_model_stem("_ctx.onnx"), "_ctx");
  EXPECT_EQ(context_model_stem("plain"), "plain");
}

TEST(ContextNames, NumbersFurtherBinariesOfAProvider) {
  EXPECT_EQ(context_binary_name("model", "dnnl", 0), "model_dnnl.bin");
  EXPECT_EQ(context_binary_name("model", "dnnl", 1), "model_dnnl_1.bin");
  EXPECT_EQ(context_binary_name("model", "dnnl", 12), "model_dnnl_12.bin");
}

TEST(ContextNames, SupersededNamesNeedAWholeChecksum) {
  const std::string checksum(32, 'a');
  EXPECT_EQ(superseded_name("m.bin", checksum), "m.bin." + checksum);
  EXPECT_TRUE(is_superseded_name("m.bin." + checksum, "m.bin"));
  EXPECT_FALSE(is_superseded_name("m.bin", "m.bin"));
  EXPECT_FALSE(is_superseded_name("m.bin.old", "m.bin"));
  EXPECT_FALSE(is_superseded_name("other.bin." + checksum, "m.bin"));
  EXPECT_FALSE(is_superseded_name("m.bin." + checksum + "0", "m.bin"));
}

}  // namespace
}  // namespace ephost::context::file_names_test
