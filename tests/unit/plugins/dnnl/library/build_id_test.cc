#include "plugins/dnnl/library/build_id.h"

#include <ephost/plugin_abi.h>
#include <gtest/gtest.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

namespace ephost_dnnl::build_id_test {
namespace {

const BuildId kId = {"2.6.3+abc", "avx512_core", 4};
const std::string kRevision = "ephost.dnnl/" + std::to_string(kContextFormat);

TEST(BuildId, SaysWhatAContextDependsOn) {
  EXPECT_EQ(compatibility_text(kId), kRevision + ";onednn=2.6.3+abc;isa=avx512_core;threads=4");
  EXPECT_EQ(sdk_version(kId), "oneDNN 2.6.3+abc");
}

TEST(BuildId, JudgesEqualTextsAsOptimal) {
  EXPECT_EQ(judge_compatibility(compatibility_text(kId), kId), EPH_COMPATIBILITY_OPTIMAL);
}

TEST(BuildId, PrefersRecompilationForAnotherNumberOfThreads) {
  EXPECT_EQ(judge_compatibility(kRevision + ";onednn=2.6.3+abc;isa=avx512_core;threads=16", kId),
            EPH_COMPATIBILITY_PREFER_RECOMPILATION);
}

// The choice would be made again, so another compilation would be no better.
TEST(BuildId, IsContentWithAChosenNumberOfThreads) {
  BuildId chosen = kId;
  chosen.threads = 16;
  chosen.has_chosen_threads = true;
  EXPECT_EQ(compatibility_text(chosen),
            kRevision + ";onednn=2.6.3+abc;isa=avx512_core;threads=16;chosen");
  EXPECT_EQ(judge_compatibility(compatibility_text(chosen), kId), EPH_COMPATIBILITY_OPTIMAL);
}

TEST(BuildId, KnowsTextsOfOthers) {
  for (const char* text : {"", "something", "scripted 1", "ephost.dnnl"}) {
    EXPECT_EQ(judge_compatibility(text, kId), EPH_COMPATIBILITY_NOT_APPLICABLE) << text;
  }
}

TEST(BuildId, RefusesAnotherLibraryInstructionSetRevisionOrText) {
  for (const std::string& text :
       {kRevision + ";onednn=2.6.2+abc;isa=avx512_core;threads=4",
        kRevision + ";onednn=2.6.3+abc;isa=avx2;threads=4",
        std::string("ephost.dnnl/1;onednn=2.6.3+abc;isa=avx512_core;threads=4"),
        kRevision + ";onednn=2.6.3+abc;isa=avx512_core;threads=",
        kRevision + ";onednn=2.6.3+abc;isa=avx512_core;threads=4;x",
        kRevision + ";onednn=2.6.3+abc;isa=avx512_core;threads=;chosen"}) {
    EXPECT_EQ(judge_compatibility(text, kId), EPH_COMPATIBILITY_UNSUPPORTED) << text;
  }
}

TEST(BuildId, KnowsThisProcess) {
  const BuildId id = current_build_id(3);
  EXPECT_EQ(id.library.substr(0, 2), std::to_string(DNNL_VERSION_MAJOR) + ".");
  EXPECT_FALSE(id.instruction_set.empty());
  EXPECT_EQ(id.threads, 3);
}

}  // namespace
}  // namespace ephost_dnnl::build_id_test
