#include "host/session/config/session_config.h"

#include <gmock/gmock.h>

#include <set>

#include "host/session/config/config_entries.h"
#include "tests/support/status_matchers.h"

namespace ephost::session::session_config_test {
namespace {

using test::IsOk;

Result<SessionConfig> read(std::string key, std::string value,
                           std::vector<std::string>* warnings = nullptr) {
  GivenOptions options;
  options.set_entry(std::move(key), std::move(value));
  std::vector<std::string> ignored;
  return read_session_config(options, warnings ? *warnings : ignored);
}

TEST(SessionConfig, HasTheDefaultsOfOnnxRuntime) {
  std::vector<std::string> warnings;
  const auto config = read_session_config(GivenOptions(), warnings);
  ASSERT_THAT(config, IsOk());
  EXPECT_FALSE(config->context_enable);
  EXPECT_FALSE(config->context_embed_mode);
  EXPECT_FALSE(config->disable_cpu_fallback);
  EXPECT_FALSE(config->disable_quant_qdq);
  EXPECT_TRUE(config->context_file_path.empty());
}

TEST(SessionConfig, ReadsFlagsAndTexts) {
  EXPECT_TRUE(read("ep.context_enable", "1")->context_enable);
  EXPECT_TRUE(read("ep.context_embed_mode", "1")->context_embed_mode);
  EXPECT_TRUE(read("ep.context_force_overwrite", "1")->context_force_overwrite);
  EXPECT_EQ(read("ep.context_file_path", "a/b.onnx")->context_file_path, "a/b.onnx");
  EXPECT_EQ(read("ep.context_node_name_prefix", "p_")->context_node_name_prefix, "p_");
  EXPECT_TRUE(read("session.disable_model_compile", "1")->disable_model_compile);
  EXPECT_TRUE(read("session.disable_quant_qdq", "1")->disable_quant_qdq);
}

TEST(SessionConfig, RefusesAFlagThatIsNeither0Nor1) {
  const auto config = read("ep.context_embed_mode", "true");
  EXPECT_EQ(config.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(config.status().message(),
            "configuration entry \"ep.context_embed_mode\" cannot be \"true\"; use \"0\" or \"1\"");
}

TEST(SessionConfig, ReadsTheLimitsOfTheCacheStore) {
  EXPECT_EQ(read("ep.cache_dir", "store")->cache_dir, "store");
  EXPECT_EQ(read("ep.cache_max_bytes", "5000000000")->cache_limits.max_bytes, 5000000000U);
  EXPECT_EQ(read("ep.cache_max_age_days", "0")->cache_limits.max_age_days, 0U);
  for (const char* text : {"", "-1", "10 GB", "1e9", "99999999999999999999"}) {
    const auto config = read("ep.cache_max_bytes", text);
    EXPECT_EQ(config.status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(SessionConfig, ReadsHowLongALockIsWaitedFor) {
  EXPECT_EQ(read("ep.cache_dir", "x")->context_lock_timeout, std::chrono::seconds(10));
  EXPECT_EQ(read("ep.context_lock_timeout_ms", "0")->context_lock_timeout.count(), 0);
  EXPECT_EQ(read("ep.context_lock_timeout_ms", "250")->context_lock_timeout.count(), 250);
  EXPECT_GT(read("ep.context_lock_timeout_ms", "18446744073709551615")->context_lock_timeout,
            std::chrono::hours(24));
  EXPECT_EQ(read("ep.context_lock_timeout_ms", "-1").status().code(), StatusCode::kInvalidArgument);
}

TEST(SessionConfig, ReadsWhatValidationMayTake) {
  EXPECT_EQ(read("ep.cache_dir", "")->validate.deadline_milliseconds, 60'000U);
  EXPECT_EQ(read("session.validate.deadline", "0")->validate.deadline_milliseconds, 0U);
  EXPECT_EQ(read("session.validate.deadline", "7")->validate.deadline_milliseconds, 7'000U);
  EXPECT_EQ(read("session.validate.deadline", "99999999999")->validate.deadline_milliseconds,
            1'000'000'000U);
  EXPECT_EQ(read("session.validate.abort_after", "3")->validate.abort_after, 3U);
  EXPECT_EQ(read("session.validate.abort_after", "99999999999")->validate.abort_after, UINT32_MAX);
  EXPECT_EQ(read("session.validate.guard", "pages")->validate.guard, layers::Guard::kPages);
  EXPECT_FALSE(read("ep.cache_dir", "")->validate_results);
  EXPECT_TRUE(read("session.validate.results", "1")->validate_results);
  for (const auto* const key : {"deadline", "abort_after", "guard", "results"}) {
    EXPECT_EQ(read(std::string("session.validate.") + key, "-1").status().code(),
              StatusCode::kInvalidArgument)
        << key;
  }
}

TEST(SessionConfig, ReadsOverridesOfDimensions) {
  GivenOptions options;
  for (const auto& [dimension, size] :
       {std::pair("a=b.c", "4"), std::pair("a=b.c", "5"), std::pair("empty", "0")}) {
    options.set_entry(std::string(kDimensionByNamePrefix) + dimension, size);
  }
  options.set_entry(std::string(kDimensionByDenotationPrefix) + "data_batch", "2");
  std::vector<std::string> warnings;
  const auto config = read_session_config(options, warnings);
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(warnings.empty());
  using Sizes = std::map<std::string, int64_t>;
  EXPECT_EQ(config->dimension_overrides.by_name, (Sizes{{"a=b.c", 5}, {"empty", 0}}));
  EXPECT_EQ(config->dimension_overrides.by_denotation, (Sizes{{"data_batch", 2}}));
}

TEST(SessionConfig, RefusesOverridesOfDimensionsWithoutNameOrThatContradict) {
  const Status nameless = read("session.free_dimension_override_by_name.", "1").status();
  EXPECT_EQ(nameless.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(nameless.message().find("names no dimension"), std::string::npos);
  const std::string prefix = "session.free_dimension_override_by_denotation.";
  GivenOptions options;
  options.set_entry(prefix + "DATA_BATCH", "1");
  options.set_entry(prefix + "data_batch", "2");
  std::vector<std::string> warnings;
  const Status twice = read_session_config(options, warnings).status();
  EXPECT_EQ(twice.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(twice.message().find("another spelling of the same denotation is 1"),
            std::string::npos);
}

TEST(SessionConfig, ReadsSizesOfInputs) {
  const std::string prefix = "session.free_dimension_override_by_input.";
  using Sizes = std::map<std::string, std::vector<int64_t>>;
  EXPECT_EQ(read(prefix + "a.b", "1,?,0")->dimension_overrides.by_input,
            (Sizes{{"a.b", {1, -1, 0}}}));
  EXPECT_EQ(read(prefix + "scalar", "")->dimension_overrides.by_input, (Sizes{{"scalar", {}}}));
  for (const char* text : {"1,", ",1", "-1", "1;2", "x", "1,,2", " 1"}) {
    const Status status = read(prefix + "x", text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_NE(status.message().find("list the sizes of all dimensions"), std::string::npos);
  }
  EXPECT_EQ(read(prefix, "1").status().code(), StatusCode::kInvalidArgument);
}

TEST(SessionConfig, ReadsWhatBecomesOfNan) {
  EXPECT_EQ(read("ep.cache_dir", "")->nan, "");
  EXPECT_EQ(read("session.nan", "propagate")->nan, "propagate");
  EXPECT_EQ(read("session.nan", "library")->nan, "library");
  EXPECT_EQ(read("session.nan", "zero").status().message(),
            "configuration entry \"session.nan\" cannot be \"zero\"; use \"propagate\" or "
            "\"library\"");
}

TEST(SessionConfig, ReadsHowShapesAreSpecialised) {
  EXPECT_EQ(read("ep.cache_dir", "")->specialize, SpecializeMode::kInRun);
  EXPECT_EQ(read("ep.cache_dir", "")->runs_before, 1U);
  EXPECT_EQ(read("ep.cache_dir", "")->max_specializations, 4U);
  EXPECT_EQ(read("session.shapes.specialize", "background")->specialize,
            SpecializeMode::kBackground);
  EXPECT_EQ(read("session.shapes.specialize", "off")->specialize, SpecializeMode::kOff);
  EXPECT_EQ(read("session.shapes.runs_before", "7")->runs_before, 7U);
  EXPECT_EQ(read("session.shapes.max_specializations", "1024")->max_specializations, 1024U);
  EXPECT_EQ(read("session.shapes.profiles", "a=1;a=2")->shape_profiles.size(), 2U);
  for (const auto& [key, value] :
       {std::pair{"specialize", "on"}, std::pair{"runs_before", "-1"},
        std::pair{"max_specializations", "1025"}, std::pair{"profiles", "batch"},
        std::pair{"profiles", "a=1;a=2;a=3;a=4;a=5"}}) {
    EXPECT_EQ(read(std::string("session.shapes.") + key, value).status().code(),
              StatusCode::kInvalidArgument)
        << key;
  }
}

TEST(SessionConfig, ReadsHowStepsRun) {
  GivenOptions options;
  options.set_entry("session.execution_mode", "parallel");
  options.set_entry("session.inter_op_num_threads", "3");
  options.set_entry("session.intra_op_num_threads", "2");
  options.set_entry("session.profile_file", "trace.json");
  std::vector<std::string> warnings;
  const auto config = read_session_config(options, warnings);
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(config->execution_mode, ExecutionMode::kParallel);
  EXPECT_EQ(config->inter_op_threads, 3U);
  EXPECT_EQ(config->intra_op_threads, 2U);
  EXPECT_EQ(config->profile_file, "trace.json");
  EXPECT_EQ(read("session.execution_mode", "sequential")->execution_mode,
            ExecutionMode::kSequential);
}

TEST(SessionConfig, RefusesUnknownModesAndInvalidThreadNumbers) {
  EXPECT_EQ(read("session.execution_mode", "fast").status().message(),
            "configuration entry \"session.execution_mode\" cannot be \"fast\"; use "
            "\"sequential\" or \"parallel\"");
  for (const char* text : {"", "-1", "two", "257", "99999999999"}) {
    EXPECT_EQ(read("session.intra_op_num_threads", text).status().code(),
              StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(SessionConfig, ReadsTheOrderOfStepsAndTheNumberOfPatterns) {
  EXPECT_EQ(read("ep.context_enable", "0")->execution_order, StepOrder::kAutomatic);
  EXPECT_EQ(read("session.execution_order", "default")->execution_order, StepOrder::kDefault);
  EXPECT_EQ(read("session.execution_order", "priority")->execution_order, StepOrder::kPriority);
  EXPECT_EQ(read("session.execution_order", "memory")->execution_order, StepOrder::kMemory);
  EXPECT_EQ(read("session.max_memory_patterns", "3")->max_memory_patterns, 3U);
  EXPECT_EQ(read("session.execution_order", "fast").status().message(),
            "configuration entry \"session.execution_order\" cannot be \"fast\"; use \"default\", "
            "\"priority\" or \"memory\"");
  EXPECT_FALSE(read("session.max_memory_patterns", "many").ok());
}

TEST(SessionConfig, ReadsWhetherStepsAreCaptured) {
  EXPECT_TRUE(read("session.capture", "auto")->captures_streams);
  EXPECT_FALSE(read("session.capture", "off")->captures_streams);
  EXPECT_EQ(
      read("session.capture", "always").status().message(),
      "configuration entry \"session.capture\" cannot be \"always\"; use \"auto\" or \"off\"");
}

TEST(SessionConfig, WarnsOfAnUnknownKeyWithTheNearestOne) {
  std::vector<std::string> warnings;
  EXPECT_THAT(read("ep.context_enabled", "1", &warnings), IsOk());
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0],
            "configuration entry \"ep.context_enabled\" is unknown and has no effect; did you mean "
            "\"ep.context_enable\"?");
}

TEST(SessionConfig, ReadsTheGroupOfASession) {
  GivenOptions options;
  options.set_entry("ep.share_ep_contexts", "1");
  options.set_entry("ep.share_ep_contexts_group", "speech");
  std::vector<std::string> warnings;
  const Result<SessionConfig> config = read_session_config(options, warnings);
  ASSERT_THAT(config, IsOk());
  EXPECT_TRUE(config->share_contexts);
  EXPECT_FALSE(config->stop_share_contexts);
  EXPECT_EQ(config->share_contexts_group, "speech");
  EXPECT_TRUE(warnings.empty());
}

TEST(SessionConfig, ReadsBudgets) {
  const auto none = UINT64_MAX;
  EXPECT_EQ(read("optimization.constant_folding_max_bytes", "5")->fold_limits.max_bytes, 5U);
  EXPECT_EQ(read("optimization.constant_folding_max_bytes", "0")->fold_limits.max_bytes, none);
  EXPECT_EQ(read("optimization.constant_folding_max_work", "6")->fold_limits.max_work, 6U);
  EXPECT_EQ(read("session.function_inlining_max_nodes", "7")->max_inlined_nodes, 7U);
  EXPECT_EQ(read("session.function_inlining_max_nodes", "0")->max_inlined_nodes, none);
  EXPECT_EQ(read("session.sparse_initializers_max_bytes", "8")->max_dense_bytes, 8U);
  EXPECT_EQ(read("session.load_timeout_seconds", "9")->load_timeout_seconds, 9U);
  EXPECT_EQ(read("session.load_timeout_seconds", "99999999999")->load_timeout_seconds,
            365U * 24 * 3600);
  for (const char* text : {"", "-1", "1.5", "1e9", "99999999999999999999"}) {
    for (const char* key :
         {"optimization.constant_folding_max_bytes", "optimization.constant_folding_max_work",
          "session.function_inlining_max_nodes", "session.sparse_initializers_max_bytes",
          "session.load_timeout_seconds"}) {
      EXPECT_EQ(read(key, text).status().code(), StatusCode::kInvalidArgument) << key << text;
    }
  }
}

TEST(ConfigEntries, AreThoseThatSessionsKnow) {
  for (const ConfigEntryDescription& entry : known_config_entries()) {
    if (entry.scope != ConfigScope::kSession) continue;
    std::vector<std::string> warnings;
    static_cast<void>(read(entry.key, "1", &warnings));
    EXPECT_TRUE(warnings.empty()) << entry.key;
  }
}

TEST(IsolationLimits, AreSecondsWithFractions) {
  using std::chrono::milliseconds;
  const auto limit = [](const std::string& text) {
    return read("session.isolation.run_limit", text)->isolation.calls.run;
  };
  EXPECT_EQ(limit("0"), milliseconds(0));
  EXPECT_EQ(limit("30"), milliseconds(30'000));
  EXPECT_EQ(limit("0.5"), milliseconds(500));
  EXPECT_EQ(limit("0.0000001"), milliseconds(1)) << "not without a limit";
  EXPECT_EQ(limit("1" + std::string(40, '0')), std::chrono::hours(365 * 24));
  for (const char* const text : {"", "-1", "nan", "1e3", "1s", " 1"}) {
    const auto config = read("session.isolation.run_limit", text);
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_THAT(config.status().message(),
                ::testing::HasSubstr("use a number of seconds such as 30 or 0.5"));
  }
}

TEST(SandboxFiles, AreAbsolutePathsOfWhatIsThere) {
  using ::testing::ElementsAre;
  const auto all = read("session.sandbox.readable", "/usr;/etc/passwd");
  ASSERT_THAT(all, IsOk());
  EXPECT_THAT(all->isolation.readable.all, ElementsAre("/usr", "/etc/passwd"));
  const auto one = read("session.sandbox.writable.acme", "/tmp");
  ASSERT_THAT(one, IsOk());
  EXPECT_THAT(one->isolation.writable.of_providers.at("acme"), ElementsAre("/tmp"));
  EXPECT_TRUE(one->isolation.writable.all.empty());
  EXPECT_THAT(read("session.sandbox.readable", "/usr;tmp").status().message(),
              ::testing::HasSubstr("cannot grant \"tmp\", which is not absolute"));
  EXPECT_THAT(read("session.sandbox.writable.acme", "/does/not/exist").status().message(),
              ::testing::HasSubstr("cannot grant \"/does/not/exist\", which does not exist"));
}

TEST(ConfigEntries, OfRunsAndProcessesAreNoneOfSessions) {
  for (const ConfigEntryDescription& entry : known_config_entries()) {
    if (entry.scope == ConfigScope::kSession) continue;
    std::vector<std::string> warnings;
    static_cast<void>(read(entry.key, "1", &warnings));
    EXPECT_EQ(warnings.size(), 1U) << entry.key;
  }
}

TEST(ConfigEntries, HaveDefaultsThatChangeNothingWhereTheseAreValues) {
  size_t tried = 0;
  for (const ConfigEntryDescription& entry : known_config_entries()) {
    const std::set<std::string> with_values = {"0 or 1",
                                               "whole number",
                                               "seconds, such as 30 or 0.5",
                                               "in_run, background or off",
                                               "sequential or parallel",
                                               "0 to 1024"};
    if (!with_values.contains(entry.values) || entry.default_value.find(' ') != std::string::npos ||
        entry.default_value == "none") {
      continue;
    }
    const auto config = read(entry.key, entry.default_value);
    ASSERT_THAT(config, IsOk()) << entry.key;
    const auto without = read("ep.context_node_name_prefix", "");
    EXPECT_EQ(config->context_enable, without->context_enable);
    EXPECT_EQ(config->context_embed_mode, without->context_embed_mode);
    EXPECT_EQ(config->context_force_overwrite, without->context_force_overwrite);
    EXPECT_EQ(config->context_lock_timeout, without->context_lock_timeout);
    EXPECT_EQ(config->fail_on_suboptimal_context, without->fail_on_suboptimal_context);
    EXPECT_EQ(config->disable_model_compile, without->disable_model_compile);
    EXPECT_EQ(config->share_contexts, without->share_contexts);
    EXPECT_EQ(config->stop_share_contexts, without->stop_share_contexts);
    EXPECT_EQ(config->cache_limits.max_bytes, without->cache_limits.max_bytes);
    EXPECT_EQ(config->cache_limits.max_age_days, without->cache_limits.max_age_days);
    EXPECT_EQ(config->optimized_model_external_initializers_min_bytes,
              without->optimized_model_external_initializers_min_bytes);
    EXPECT_EQ(config->disable_quant_qdq, without->disable_quant_qdq);
    EXPECT_EQ(config->fold_limits.max_bytes, without->fold_limits.max_bytes);
    EXPECT_EQ(config->fold_limits.max_work, without->fold_limits.max_work);
    EXPECT_EQ(config->max_inlined_nodes, without->max_inlined_nodes);
    EXPECT_EQ(config->max_dense_bytes, without->max_dense_bytes);
    EXPECT_EQ(config->load_timeout_seconds, without->load_timeout_seconds);
    EXPECT_EQ(config->disable_ep_fallback, without->disable_ep_fallback);
    EXPECT_EQ(config->disable_cpu_fallback, without->disable_cpu_fallback);
    EXPECT_EQ(config->specialize, without->specialize);
    EXPECT_EQ(config->runs_before, without->runs_before);
    EXPECT_EQ(config->max_specializations, without->max_specializations);
    EXPECT_EQ(config->max_memory_patterns, without->max_memory_patterns);
    EXPECT_EQ(config->execution_mode, without->execution_mode);
    EXPECT_EQ(config->inter_op_threads, without->inter_op_threads);
    EXPECT_EQ(config->intra_op_threads, without->intra_op_threads);
    EXPECT_EQ(config->allow_spinning.value_or(true), without->allow_spinning.value_or(true));
    ++tried;
  }
  EXPECT_GT(tried, 20U);
}

}  // namespace
}  // namespace ephost::session::session_config_test
