#include "host/context/read/replacement_watch.h"

#include <gtest/gtest.h>

#include "host/base/files/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::context::replacement_watch_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using test::TempDirectory;

TEST(ReplacementWatch, SeesAModelThatIsReplaced) {
  const TempDirectory dir;
  const TempDirectory models;
  const fs::path model = dir.write("m.onnx", "old");
  const fs::path replacement = models.write("m.onnx", "new");
  const ReplacementWatch watch(model);
  EXPECT_FALSE(watch.has_changed());
  fs::rename(replacement, model);
  EXPECT_TRUE(watch.has_changed());
}

TEST(ReplacementWatch, SeesAModelThatComesOrGoes) {
  const TempDirectory dir;
  const ReplacementWatch coming(dir / "m.onnx");
  dir.write("m.onnx", "new");
  EXPECT_TRUE(coming.has_changed());
  const ReplacementWatch going(dir / "m.onnx");
  fs::remove(dir / "m.onnx");
  EXPECT_TRUE(going.has_changed());
}

TEST(ReplacementWatch, SeesNothingWhereNothingHappens) {
  const TempDirectory dir;
  const fs::path model = dir.write("m.onnx", "old");
  const ReplacementWatch watch(model);
  EXPECT_THAT(read_file(model), IsOk());
  EXPECT_FALSE(watch.has_changed());
  EXPECT_FALSE(ReplacementWatch({}).has_changed());
}

}  // namespace
}  // namespace ephost::context::replacement_watch_test
