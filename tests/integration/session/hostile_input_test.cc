// Randomly damaged models: each ends in an error, or in a session that runs.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/integration/session/sample.h"
#include "tests/support/host_api.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::hostile_input_test {
namespace {

using test::IsOk;

// Flips bits, changes bytes, truncates, or duplicates or removes a range.
std::string mutate(std::string bytes, std::mt19937& engine) {
  const auto any = [&](size_t limit) {
    return static_cast<size_t>(engine() % std::max<size_t>(limit, 1));
  };
  const size_t at = any(bytes.size());
  switch (engine() % 6) {
    case 0:
      bytes[at] ^= static_cast<char>(1U << engine() % 8);
      break;
    case 1:
      bytes[at] = static_cast<char>(engine());
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.insert(at, bytes.substr(at, any(40)));
      break;
    case 4:
      bytes.erase(at, any(40));
      break;
    default:
      for (int i = 0; i < 8; ++i) bytes[any(bytes.size())] = static_cast<char>(engine());
  }
  return bytes;
}

// Creates a session from the bytes and runs it. Returns true if it ran.
bool survives(const Environment& environment, const std::string& bytes,
              const SessionOptions& options) {
  auto session = Session::create(
      environment, ModelBytes{std::as_bytes(std::span(bytes.data(), bytes.size()))}, options);
  if (!session.ok()) {
    EXPECT_FALSE(session.status().message().empty());
    return false;
  }
  for (const ValueDescription& input : session->inputs()) {
    uint64_t elements = 1;
    std::vector<int64_t> shape = input.shape;
    for (int64_t& extent : shape) {
      extent = extent < 0 ? 2 : extent;
      elements *= static_cast<uint64_t>(std::max<int64_t>(extent, 1));
    }
    // Models with larger inputs than the original's are not run, because that would only take time,
    // nor are models with inputs that cannot be made.
    if (elements > 100000 || input.element_type == ElementType::kString) return false;
    if (!Value::allocate(input.element_type, shape).ok()) return false;
  }
  const auto outputs = session->run(test::random_inputs(*session));
  return outputs.ok();
}

TEST(HostileInput, AThousandMutationsOfAModelEndInAnErrorOrARun) {
  const Environment environment = test::environment();
  std::mt19937 engine(11);
  int ran = 0;
  int refused = 0;
  for (const char* model : {"tiny_mlp", "tiny_cnn", "tiny_if", "tiny_constants"}) {
    const std::string intact = test::read(test::model_path(model));
    for (int round = 0; round < 250; ++round) {
      const bool fuse = round % 2 == 0;
      const std::string bytes = mutate(intact, engine);
      (survives(environment, bytes, fuse ? test::with_dnnl() : SessionOptions()) ? ran : refused)++;
    }
  }
  // Models with damaged weights run, those with a damaged structure do not. The generator must make
  // both.
  EXPECT_GT(ran, 50);
  EXPECT_GT(refused, 50);
}

TEST(HostileInput, EveryTruncationOfASmallModelIsRefusedOrRuns) {
  const Environment environment = test::environment();
  const std::string intact = test::read(test::model_path("tiny_mlp"));
  const size_t step = std::max<size_t>(1, intact.size() / 200);
  for (size_t size = 0; size < intact.size(); size += step) {
    survives(environment, intact.substr(0, size), {});
  }
}

TEST(HostileInput, MutationsOfAnEmbeddedContextModelEndInAnErrorOrARun) {
  const Environment environment = test::environment();
  const test::TempDirectory folder;
  ModelCompilationOptions options;
  options.input_model_path = test::model_path("tiny_mlp");
  options.output_model_path = folder / "m_ctx.onnx";
  options.ep_context_embed_mode = true;
  const auto report = compile_model(environment, test::with_dnnl(), options);
  ASSERT_THAT(report, IsOk());
  const std::string intact = test::read(options.output_model_path);
  std::mt19937 engine(12);
  for (int round = 0; round < 250; ++round) {
    survives(environment, mutate(intact, engine), test::with_dnnl());
  }
}

}  // namespace
}  // namespace ephost::hostile_input_test
