// Contexts that a session takes over from older entries of the cache store.
#include <gmock/gmock.h>

#include "tests/integration/session/caching/cache_reuse_sample.h"
#include "tests/integration/session/flow_models.h"
#include "tests/support/status_matchers.h"

namespace ephost::cache_reuse_test {
namespace {

namespace fs = std::filesystem;
using Outcome = CacheUse::Outcome;
using Seen = test::SeenSession;
using test::CacheReuse;
using test::CacheSetup;
using test::IsOk;
using test::updated_host;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(CacheReuse, TheNewEntryNeedsTheOldOneNoMore) {
  const Seen old = open({});
  const Seen reused = open_without_compiling(updated_host());
  ASSERT_THAT(reused.status, IsOk());
  EXPECT_EQ(reused.use.outcome, Outcome::kMiss);
  EXPECT_EQ(reused.use.reused_contexts, 2U);
  fs::remove_all(entry(old.use));
  expect_hit(updated_host());
  const auto checks = verify_cache(store_);
  ASSERT_THAT(checks, IsOk());
  ASSERT_EQ(checks->size(), 1U);
  EXPECT_THAT(checks->front().problems, IsEmpty());
  // It gives contexts itself.
  CacheSetup next = updated_host();
  next.host_version = "1.0.2";
  EXPECT_EQ(open(next).compiled, 0U);
}

// scripted_two, asked first, takes the last node of the second partition.
CacheSetup with_taken_node(const std::string& payloads) {
  CacheSetup setup;
  setup.options_of("scripted") = {{"payloads", payloads}};
  setup.providers.insert(setup.providers.begin(), {"scripted_two", {{"claim", "fuse:Neg"}}});
  return setup;
}

TEST_F(CacheReuse, AChangedPartitionTakesThePartitionsOfItsPayloadAlong) {
  CacheSetup first;
  first.options_of("scripted") = {{"payloads", "one"}};
  ASSERT_EQ(open(first).compiled, 2U);
  const Seen found = open(with_taken_node("one"));
  EXPECT_EQ(found.compiled, 3U) << found.log;
  EXPECT_EQ(found.restored, 0U);
  EXPECT_EQ(found.use.reused_contexts, 0U);
  EXPECT_THAT(found.log, AllOf(HasSubstr("also contains \"scripted_1\", which is not the same now"),
                               HasSubstr("has another partition of that name"),
                               HasSubstr("was made without ScriptedTwoExecutionProvider")));
  expect_hit(with_taken_node("one"), 3);
}

TEST_F(CacheReuse, AChangedPartitionWithItsOwnPayloadIsCompiledAlone) {
  CacheSetup first;
  first.options_of("scripted") = {{"payloads", "each"}};
  ASSERT_EQ(open(first).compiled, 2U);
  const Seen found = open(with_taken_node("each"));
  EXPECT_EQ(found.compiled, 2U) << found.log;
  EXPECT_EQ(found.restored, 1U);
  EXPECT_EQ(found.use.reused_contexts, 1U);
  EXPECT_THAT(found.log, AllOf(HasSubstr("compiles partition scripted_1"),
                               HasSubstr("compiles partition scripted_two_0"),
                               HasSubstr("restores partition scripted_0")));
  // One entry holds the old context and the new ones.
  expect_hit(with_taken_node("each"), 3);
}

TEST_F(CacheReuse, SeveralEntriesGiveTheirContexts) {
  CacheSetup left;
  left.providers = {{"scripted", {{"claim", "nodes:0+1"}}}};
  ASSERT_EQ(open(left).compiled, 1U);
  CacheSetup right;
  right.providers = {{"scripted_two", {{"claim", "nodes:3+4"}}}};
  ASSERT_EQ(open(right).compiled, 1U);
  CacheSetup both = left;
  both.providers.push_back(right.providers[0]);
  const Seen found = open(both);
  EXPECT_EQ(found.compiled, 0U) << found.log;
  EXPECT_EQ(found.use.reused_contexts, 2U);
  expect_hit(both);
}

TEST_F(CacheReuse, ADamagedEntryGivesNothing) {
  for (const char* name : {"entry.txt", "model_ctx.onnx", "model_scripted.bin"}) {
    for (const bool is_removed : {false, true}) {
      SCOPED_TRACE(name + std::string(is_removed ? " removed" : " damaged"));
      store_ = dir_ / ("store of " + std::string(name) + (is_removed ? " removed" : " damaged"));
      const Seen old = open({});
      std::string bytes = test::read(entry(old.use) / name);
      ASSERT_FALSE(bytes.empty());
      bytes[bytes.size() / 2] ^= 1;
      fs::remove(entry(old.use) / name);
      if (!is_removed) test::write(entry(old.use) / name, bytes);
      const Seen found = open(updated_host());
      ASSERT_THAT(found.status, IsOk());
      EXPECT_EQ(found.use.outcome, Outcome::kMiss);
      EXPECT_EQ(found.compiled, 2U);
      EXPECT_EQ(found.use.reused_contexts, 0U);
      // Without its description, it is not known as an entry of this model.
      EXPECT_EQ(fs::exists(quarantined(old.use) / "reason.txt"), name != std::string("entry.txt"));
      expect_hit(updated_host());
    }
  }
}

TEST_F(CacheReuse, AnEntryUnderAnotherNameGivesNothing) {
  const Seen old = open({});
  fs::rename(entry(old.use), folder("ephost-entry-" + std::string(32, '0')));
  EXPECT_EQ(open(updated_host()).compiled, 2U);
}

TEST_F(CacheReuse, WhatTheProviderRefusesIsCompiled) {
  for (const auto& refusal :
       {std::pair("fail", "restore"), std::pair("compatibility", "unsupported"),
        std::pair("compatibility", "prefer_recompilation")}) {
    SCOPED_TRACE(refusal.second);
    store_ = dir_ / ("store of " + std::string(refusal.second));
    CacheSetup refusing;
    refusing.options_of("scripted") = {refusal};
    ASSERT_EQ(open(refusing).compiled, 2U);
    refusing.host_version = "1.0.1";
    const Seen forbidden = open_without_compiling(refusing);
    EXPECT_EQ(forbidden.status.code(), StatusCode::kModelRequiresCompilation);
    const Seen found = open(refusing);
    ASSERT_THAT(found.status, IsOk());
    EXPECT_EQ(found.use.outcome, Outcome::kMiss);
    EXPECT_EQ(found.compiled, 2U);
    EXPECT_EQ(found.use.reused_contexts, 0U);
  }
}

TEST_F(CacheReuse, AFailureBehindReusedContextsIsTriedAgainWithoutThem) {
  CacheSetup failing;
  failing.options_of("scripted") = {{"fail", "create_state"}, {"keep_state", "1"}};
  // The entry is published before the state is created.
  EXPECT_EQ(open(failing).status.code(), StatusCode::kEpFail);
  failing.host_version = "1.0.1";
  const Seen found = open(failing);
  EXPECT_EQ(found.status.code(), StatusCode::kEpFail);
  EXPECT_EQ(found.restored, 2U);
  EXPECT_EQ(found.compiled, 2U);
  EXPECT_THAT(found.log, HasSubstr("created again without contexts of older entries"));
  size_t quarantined_entries = 0;
  for (const auto& item : fs::directory_iterator(folder(""))) {
    quarantined_entries += item.path().filename().native().starts_with("ephost-quarantined-");
  }
  EXPECT_EQ(quarantined_entries, 1U);
}

TEST_F(CacheReuse, WhereAProviderFailsNothingIsReused) {
  CacheSetup first;
  first.providers = {{"scripted", {{"claim", "nodes:0+1"}}}};
  ASSERT_EQ(open(first).compiled, 1U);
  CacheSetup failing = first;
  failing.providers.push_back({"scripted_two", {{"fail", "compile"}}});
  const Seen found = open(failing);
  ASSERT_THAT(found.status, IsOk());
  EXPECT_EQ(found.use.outcome, Outcome::kUncached);
  EXPECT_EQ(found.restored, 1U);
  EXPECT_EQ(found.compiled, 1U);
  EXPECT_EQ(found.use.reused_contexts, 0U);
}

TEST_F(CacheReuse, ASessionThatIsNotStoredReusesContextsToo) {
  CacheSetup first;
  first.providers = {{"scripted", {{"claim", "nodes:0+1"}}}};
  ASSERT_EQ(open(first).compiled, 1U);
  CacheSetup forgetful = first;
  forgetful.providers.push_back({"scripted_forgetful", {}});
  const Seen found = open(forgetful);
  EXPECT_EQ(found.use.outcome, Outcome::kUncached);
  EXPECT_EQ(found.use.reused_contexts, 1U);
  EXPECT_THAT(found.log, Not(HasSubstr("compiles partition scripted_0")));
}

TEST_F(CacheReuse, TheLogSaysWhatIsReused) {
  const Seen old = open({});
  const Seen found = open(updated_host());
  EXPECT_THAT(found.log, HasSubstr("cache store: ScriptedExecutionProvider takes over "
                                   "\"scripted_0\", \"scripted_1\" from the entry " +
                                   old.use.key));
}

TEST_F(CacheReuse, AModelWithContextsInBodiesReusesThem) {
  const fs::path model = test::write_model(dir_ / "flow.onnx", test::nested_flow());
  const auto reused = [&](const CacheSetup& setup) {
    Result<Session> session = Session::create(environment(setup), model, options(setup));
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return uint64_t{0};
    for (const bool condition : {true, false}) {
      const std::vector<float> x = {0.5F, -1.25F};
      const auto outputs = session->run(test::nested_flow_inputs(4, condition, x));
      EXPECT_THAT(outputs, IsOk());
      if (outputs.ok()) test::expect_nested_flow(*outputs, 4, condition, x);
    }
    return session->cache_use().reused_contexts;
  };
  EXPECT_EQ(reused({}), 0U);
  CacheSetup updated = updated_host();
  updated.config.emplace_back("session.disable_model_compile", "1");
  EXPECT_EQ(reused(updated), 5U);
}

TEST_F(CacheReuse, AContextOfTheShippedProviderIsReused) {
  CacheSetup setup;
  setup.providers = {{"dnnl", {}}};
  const fs::path model = test::model_path("tiny_diamond");
  Result<Session> first = Session::create(environment(setup), model, options(setup));
  ASSERT_THAT(first, IsOk());
  setup.host_version = "1.0.1";
  setup.config.emplace_back("session.disable_model_compile", "1");
  Result<Session> second = Session::create(environment(setup), model, options(setup));
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->cache_use().reused_contexts, 2U);
  test::expect_close(*test::run(*second), *test::run(*first));
}

TEST_F(CacheReuse, KeepsTheEntriesThatASessionWasMadeOf) {
  const Seen old = open({});
  const CacheSetup updated = updated_host();
  const Result<Session> living =
      Session::create(environment(updated), model(updated), options(updated));
  ASSERT_THAT(living, IsOk());
  const auto removal = prune_cache(store_, {.max_bytes = 1});
  ASSERT_THAT(removal, IsOk());
  EXPECT_TRUE(fs::exists(entry(old.use)));
}

TEST_F(CacheReuse, CompileModelWritesTheSameFilesFromReusedContexts) {
  for (const char* payloads : {"one", "each"}) {
    for (const bool embed : {false, true}) {
      SCOPED_TRACE(std::string(payloads) + (embed ? " embedded" : ""));
      store_ = dir_ / (std::string("store_") + payloads + (embed ? "_embedded" : ""));
      const auto compile = [&](const CacheSetup& setup, const std::string& name) {
        fs::create_directories(dir_ / name);
        ModelCompilationOptions compilation;
        compilation.input_model_path = model(setup);
        compilation.output_model_path = dir_ / name / "model_ctx.onnx";
        compilation.ep_context_embed_mode = embed;
        auto report = compile_model(environment(setup), options(setup), compilation);
        EXPECT_THAT(report, IsOk());
        return report.ok() ? std::move(*report) : CompileReport();
      };
      CacheSetup setup;
      setup.options_of("scripted") = {{"payloads", payloads}};
      const std::string suffix = store_.filename().string();
      const CompileReport direct = compile(setup, "direct_" + suffix);
      setup.host_version = "1.0.1";
      setup.config.emplace_back("session.disable_model_compile", "1");
      const CompileReport reused = compile(setup, "reused_" + suffix);
      EXPECT_EQ(reused.cache_use.outcome, Outcome::kMiss);
      EXPECT_EQ(reused.cache_use.reused_contexts, 2U);
      ASSERT_EQ(reused.files.size(), direct.files.size());
      for (size_t i = 0; i < direct.files.size(); ++i) {
        EXPECT_EQ(fs::path(reused.files[i].path).filename(),
                  fs::path(direct.files[i].path).filename());
        EXPECT_EQ(test::read(reused.files[i].path), test::read(direct.files[i].path));
      }
      ASSERT_EQ(reused.partitions.size(), 2U);
      for (const CompiledPartition& partition : reused.partitions) {
        EXPECT_EQ(partition.nodes, 2U);
      }
    }
  }
}

}  // namespace
}  // namespace ephost::cache_reuse_test
