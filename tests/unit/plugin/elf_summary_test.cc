#include "host/plugin/loading/elf_summary.h"

#include <elf.h>
#include <ephost/plugin_abi.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "host/base/files/file.h"
#include "tests/fixtures/fixtures.h"

namespace ephost::plugin::elf_summary_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string library_bytes(const std::string& fixture) {
  return test::read_bytes(test::fixture_directory(fixture) / ("lib" + fixture + ".so"));
}

TEST(ElfSummary, ListsWhatALibraryWasLinkedWith) {
  EXPECT_THAT(summarize_elf(as_bytes(library_bytes("missing_dependency"))).needed,
              Contains("libephost_absent.so"));
}

TEST(ElfSummary, KnowsTheSizeOfTheWholeFile) {
  const std::string whole = library_bytes("good");
  const uint64_t size = summarize_elf(as_bytes(whole)).needed_size;
  EXPECT_EQ(size, whole.size());
  const std::string_view half = std::string_view(whole).substr(0, whole.size() / 2);
  EXPECT_EQ(summarize_elf(as_bytes(half)).needed_size, size);
}

TEST(ElfSummary, LeavesWhatIsNoElfFileToTheLoader) {
  for (const std::string_view text : {"", "not an ELF file, but a text"}) {
    EXPECT_THAT(summarize_elf(as_bytes(text)).needed, IsEmpty());
    EXPECT_EQ(summarize_elf(as_bytes(text)).needed_size, 0U);
    EXPECT_TRUE(exported_symbols(as_bytes(text)).empty());
  }
}

TEST(ElfSummary, ListsTheSymbolsThatAPluginExports) {
  const std::string library = library_bytes("good");
  std::vector<std::string> names;
  for (const ElfSymbol& symbol : exported_symbols(as_bytes(library))) {
    names.push_back(symbol.name);
    EXPECT_FALSE(symbol.is_unique);
  }
  EXPECT_THAT(names, ElementsAre(EPH_PLUGIN_SYMBOL));
  EXPECT_FALSE(summarize_elf(as_bytes(library)).has_executable_stack);
}

TEST(ElfSummary, SurvivesEveryTruncation) {
  const std::string whole = library_bytes("missing_dependency");
  for (size_t size = 0; size < whole.size(); size += size < 1024 ? 1 : 97) {
    const std::string_view part = std::string_view(whole).substr(0, size);
    static_cast<void>(summarize_elf(as_bytes(part)));
    static_cast<void>(exported_symbols(as_bytes(part)));
  }
}

TEST(ElfSummary, SurvivesRandomHeaders) {
  const std::string whole = library_bytes("missing_dependency");
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 8; ++i) {
      damaged[EI_NIDENT + random() % 1000] = static_cast<char>(random() % 256);
    }
    static_cast<void>(summarize_elf(as_bytes(damaged)));
    static_cast<void>(exported_symbols(as_bytes(damaged)));
  }
}

TEST(SanitizersOf, KnowsTheRunTimesOfGccAndClang) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(sanitizers_of(Names{"libc.so.6", "libasan.so.8"}), EPH_BUILD_ADDRESS_SANITIZER);
  EXPECT_EQ(sanitizers_of(Names{"libclang_rt.asan-x86_64.so"}), EPH_BUILD_ADDRESS_SANITIZER);
  EXPECT_EQ(sanitizers_of(Names{"libtsan.so.2"}), EPH_BUILD_THREAD_SANITIZER);
  EXPECT_EQ(sanitizers_of(Names{"libclang_rt.msan-x86_64.so"}), EPH_BUILD_MEMORY_SANITIZER);
}

TEST(SanitizersOf, IsNotMisledBySimilarNames) {
  const std::vector<std::string> names{"libasanitary.so", "asan", "libubsan.so.1", "libasan"};
  EXPECT_EQ(sanitizers_of(names), 0U);
}

}  // namespace
}  // namespace ephost::plugin::elf_summary_test
