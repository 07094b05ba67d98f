// What the layer "validate" says of a plugin that uses what it got for a run after that run, or
// after a repetition of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ephost/sdk/basics.hpp>
#include <optional>

#include "tests/unit/layers/raw_plugin.h"

namespace ephost::layers::validate_late_test {
namespace {

using test::Behaviour;
using test::RawPlugin;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

float* floats(const eph_value& value) { return static_cast<float*>(value.data); }

// Runs a computation that doubles three floats, and keeps what it gets in its call `number`.
class ValidateLate : public ::testing::TestWithParam<int> {
 protected:
  void run(int number) {
    Behaviour keeping;
    keeping.compute = [this, number](eph_run* run, eph_error* error) {
      for (int i = 0; i < 3; ++i) floats(*run->outputs[0])[i] = 2 * floats(*run->inputs[0])[i];
      if (++runs != number) return EPH_OK;
      kept_run = run;
      kept_error = error;
      kept_output = floats(*run->outputs[0]);
      return EPH_OK;
    };
    plugin.emplace(keeping);
    const test::FakeGraph graph;
    eph_computation* const computation = plugin->compile(&graph);
    test::FloatTensor input{{3}, {1, 2, 3}};
    test::FloatTensor output{{3}, {0, 0, 0}};
    test::FakeRun fake({&input}, {&output}, 0);
    EXPECT_EQ(plugin->compute(computation, &fake), EPH_OK) << plugin->error.message;
    EXPECT_GE(runs, number);
    plugin->destroy(computation);
  }

  std::optional<RawPlugin> plugin;
  int runs = 0;
  eph_run* kept_run = nullptr;
  eph_error* kept_error = nullptr;
  float* kept_output = nullptr;
};

TEST_P(ValidateLate, ReportsWritesToMemoryOfARun) {
  run(GetParam());
  kept_output[1] = 7;
  EXPECT_THAT(plugin->log(), IsEmpty());
  plugin->destroy_provider();
  EXPECT_THAT(plugin->log(),
              Contains(AllOf(HasSubstr("validation: compute of RawExecutionProvider of \"conv1\" "
                                       "wrote to output 0 after it had returned"),
                             HasSubstr("(rule 20)"))));
}

TEST_P(ValidateLate, ReportsUsesOfARunAndOfItsError) {
  run(GetParam());
  EXPECT_EQ(kept_run->api->is_cancelled(kept_run), 1);
  kept_error->api->set_message(kept_error, EPH_STRING("too late"));
  EXPECT_THAT(plugin->log(), ElementsAre(HasSubstr("used the eph_run of a call that had returned"),
                                         HasSubstr("used the eph_error of a call")));
  EXPECT_EQ(plugin->error.message, "");
}

INSTANTIATE_TEST_SUITE_P(OfARunAndOfARepetition, ValidateLate, ::testing::Values(1, 2));

}  // namespace
}  // namespace ephost::layers::validate_late_test
