#include "host/manifest/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::manifest::selection_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(SelectionDevices, AreReadInTheirOrder) {
  const auto selection = parse_selection(
      "selection: 1\nproviders: [{provider: acme, devices: [npu0, \"gpu:1\"]}, cpu]", "s.yaml");
  ASSERT_THAT(selection, IsOk());
  EXPECT_THAT(selection->providers.at(0).devices, ElementsAre("npu0", "gpu:1"));
  EXPECT_TRUE(selection->providers.at(1).devices.empty());
}

TEST(SelectionDevices, AreRefusedWhereTheyMeanNothing) {
  for (const char* devices : {"[]", "npu0", "[npu, npu]", "[3]", "[\"\"]"}) {
    const auto selection = parse_selection(
        std::string("selection: 1\nproviders: [{provider: acme, devices: ") + devices + "}]",
        "s.yaml");
    EXPECT_EQ(selection.status().code(), StatusCode::kInvalidArgument) << devices;
    EXPECT_THAT(selection.status().message(), HasSubstr("providers[0].devices")) << devices;
  }
}

constexpr std::string_view kSample = R"(selection: 1
providers:
  - provider: AcmeExecutionProvider
    version: ">=2.1, <3"
    options:
      mode: exact
      cores: 4
      verbose: true
  - cpu
session:
  ep.context_enable: true
  ep.context_embed_mode: 0
  ep.context_node_name_prefix: "true"
)";

std::string error_of(std::string_view text) {
  const Result<Selection> result = parse_selection(text, "sel.yaml");
  if (result.ok()) return "accepted";
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return result.status().message();
}

std::string error_with(std::string_view from, std::string_view to) {
  std::string text(kSample);
  return error_of(text.replace(text.find(from), from.size(), to));
}

TEST(Selection, TakesThePolicyForSignaturesAsAnEntry) {
  const auto selection =
      parse_selection("selection: 1\nproviders: [cpu]\nsignatures: require\n", "s.yaml");
  ASSERT_THAT(selection, IsOk());
  EXPECT_EQ(selection->session_entries, (KeyValues{{"session.signatures", "require"}}));
  EXPECT_FALSE(
      parse_selection("selection: 1\nproviders: [cpu]\nsignatures: [off]\n", "s.yaml").ok());
}

TEST(Selection, TakesThePolicyForQuarantineAsAnEntry) {
  const auto selection =
      parse_selection("selection: 1\nproviders: [cpu]\nquarantine: 2/60\n", "s.yaml");
  ASSERT_THAT(selection, IsOk());
  EXPECT_EQ(selection->session_entries, (KeyValues{{"session.quarantine", "2/60"}}));
  EXPECT_FALSE(
      parse_selection("selection: 1\nproviders: [cpu]\nquarantine: [off]\n", "s.yaml").ok());
}

TEST(Selection, TakesIsolationAndItsConsequencesAsEntries) {
  const auto selection = parse_selection(
      "selection: 1\nproviders: [{provider: acme, isolation: sandbox, on_crash: fallback}]\n"
      "isolation: worker\non_crash: restart\n",
      "s.yaml");
  ASSERT_THAT(selection, IsOk());
  EXPECT_EQ(selection->session_entries, (KeyValues{{"session.isolation.acme", "sandbox"},
                                                   {"session.on_crash.acme", "fallback"},
                                                   {"session.isolation", "worker"},
                                                   {"session.on_crash", "restart"}}));
  EXPECT_FALSE(
      parse_selection("selection: 1\nproviders: []\nisolation: [worker]\n", "s.yaml").ok());
}

TEST(Selection, TakesFilesOfASandboxAsEntries) {
  const auto selection = parse_selection(
      "selection: 1\nproviders: [{provider: acme, sandbox: {readable: [/a, /b], writable: [/c]}}]\n"
      "sandbox: {writable: [/d]}\n",
      "s.yaml");
  ASSERT_THAT(selection, IsOk());
  EXPECT_EQ(selection->session_entries, (KeyValues{{"session.sandbox.readable.acme", "/a;/b"},
                                                   {"session.sandbox.writable.acme", "/c"},
                                                   {"session.sandbox.writable", "/d"}}));
  EXPECT_FALSE(
      parse_selection("selection: 1\nproviders: []\nsandbox: {devices: [/dev]}\n", "s.yaml").ok());
}

// Otherwise it would depend on the order which of the two counts.
TEST(Selection, RefusesAnEntryThatIsStatedTwice) {
  EXPECT_EQ(error_of("selection: 1\nproviders: []\nsession:\n  session.isolation: sandbox\n"
                     "isolation: worker\n"),
            "sel.yaml:5:12: key \"isolation\": the entry \"session.isolation\" is stated in line 4 "
            "already; remove one of the two");
  EXPECT_THAT(error_of("selection: 1\nproviders: [{provider: acme, isolation: sandbox}]\n"
                       "session: {session.isolation.acme: none}\n"),
              HasSubstr("the entry \"session.isolation.acme\" is stated in line 2 already"));
  for (const std::string key : {"signatures", "quarantine", "on_crash"}) {
    EXPECT_THAT(error_of("selection: 1\nproviders: []\n" + key + ": a\nsession: {session." + key +
                         ": b}\n"),
                HasSubstr("is stated in line 4 already"));
  }
  EXPECT_THAT(error_of("selection: 1\nproviders: [{provider: acme, layers: [validate]}]\n"
                       "session: {session.layers.acme: trace}\n"),
              HasSubstr("already"));
}

TEST(Selection, ReadsProvidersInTheirOrder) {
  const Result<Selection> selection = parse_selection(kSample, "sel.yaml");
  ASSERT_THAT(selection, IsOk());
  EXPECT_EQ(selection->file, "sel.yaml");
  ASSERT_EQ(selection->providers.size(), 2U);
  const ProviderChoice& acme = selection->providers[0];
  EXPECT_EQ(acme.name, "AcmeExecutionProvider");
  EXPECT_EQ(acme.version.to_string(), ">=2.1, <3");
  EXPECT_THAT(acme.options,
              ElementsAre(Pair("mode", "exact"), Pair("cores", "4"), Pair("verbose", "true")));
  EXPECT_EQ(selection->providers[1].name, "cpu");
  EXPECT_EQ(selection->providers[1].version.to_string(), "");
}

TEST(Selection, SpellsTruthValuesOfTheSessionAsOneAndZero) {
  const Result<Selection> selection = parse_selection(kSample, "sel.yaml");
  ASSERT_THAT(selection, IsOk());
  EXPECT_THAT(selection->session_entries,
              ElementsAre(Pair("ep.context_enable", "1"), Pair("ep.context_embed_mode", "0"),
                          Pair("ep.context_node_name_prefix", "true")));
}

TEST(Selection, MayListNoProvider) {
  EXPECT_EQ(error_of("selection: 1\nproviders: []\n"), "accepted");
}

TEST(Selection, RefusesAnUnknownKeyWithLineColumnAndTheNearestKey) {
  EXPECT_EQ(error_with("providers:", "provider:"),
            "sel.yaml:2:1: unknown key \"provider\"; did you mean \"providers\"?");
  EXPECT_THAT(error_with("    version:", "    versions:"),
              HasSubstr("sel.yaml:4:5: unknown key \"providers[0].versions\""));
}

TEST(Selection, RefusesADocumentWithoutItsKey) {
  EXPECT_THAT(error_with("selection: 1\n", ""),
              HasSubstr("the key \"selection\" is missing, so this is not a selection"));
  EXPECT_THAT(error_of("[cpu]"), HasSubstr("expected a map (key: value), found a list"));
}

TEST(Selection, RefusesANewerFormat) {
  EXPECT_THAT(error_with("selection: 1", "selection: 2"),
              HasSubstr("selection format 2 is not supported; this host reads format 1: update the "
                        "host"));
  EXPECT_THAT(error_with("selection: 1", "selection: 0"), HasSubstr("write \"selection: 1\""));
}

TEST(Selection, NeedsTheListOfProviders) {
  EXPECT_THAT(error_of("selection: 1\n"),
              HasSubstr("the key \"providers\" is missing; add a line like \"providers: [cpu]\""));
  EXPECT_THAT(error_of("selection: 1\nproviders: cpu\n"), HasSubstr("expected a list"));
  EXPECT_THAT(error_with("provider: AcmeExecutionProvider\n    version", "version"),
              HasSubstr("key \"providers[0]\": the key \"provider\" is missing"));
}

TEST(Selection, RefusesABadProviderName) {
  EXPECT_THAT(error_with("- cpu", "- my cpu"), HasSubstr("the name \"my cpu\" is not allowed"));
  EXPECT_THAT(error_with("- cpu", "- 7"), HasSubstr("put it in quotes"));
}

TEST(Selection, RefusesABadVersionRange) {
  EXPECT_THAT(error_with(">=2.1, <3", "~2"),
              ::testing::AllOf(HasSubstr("sel.yaml:4:14: key \"providers[0].version\""),
                               HasSubstr("is not a version range"),
                               HasSubstr("a range is a list like \">=1.2, <2\"")));
}

TEST(Selection, RefusesAProviderThatIsListedTwice) {
  EXPECT_THAT(error_with("- cpu", "- cpu\n  - CPU"),
              HasSubstr("key \"providers[2]\": the provider \"CPU\" is listed twice"));
}

TEST(Selection, RefusesAnOptionOrEntryWithoutAValue) {
  EXPECT_THAT(error_with("cores: 4", "cores:"),
              HasSubstr("key \"providers[0].options.cores\": expected one value, found nothing"));
  EXPECT_THAT(error_with("ep.context_embed_mode: 0", "ep.context_embed_mode: [0]"),
              HasSubstr("key \"session.ep.context_embed_mode\": expected one value, found a list"));
}

std::vector<std::string> errors_in(std::string_view text) {
  std::vector<std::string> messages;
  for (const PlacedError& error : examine_selection(text, "s.yaml").errors) {
    EXPECT_EQ(error.status.code(), StatusCode::kInvalidArgument);
    const std::string place = error_at("s.yaml", error.place, "").message();
    EXPECT_TRUE(error.status.message().starts_with(place)) << error.status.message();
    messages.push_back(error.status.message());
  }
  return messages;
}

TEST(ExaminedSelection, HasAllErrors) {
  EXPECT_THAT(
      errors_in("selection: 2\nprovider: []\nproviders:\n  - provider: acme\n    versio: 1\n"
                "    version: ~2\n    options: [x]\n    devices: [npu, 3, npu]\n  - [cpu]\n"
                "  - provider: 7\n  - ACME\nsession: {a: [1], b: 2}\n"),
      ElementsAre(
          HasSubstr("s.yaml:2:1: unknown key \"provider\""),
          HasSubstr("s.yaml:1:12: key \"selection\": selection format 2"),
          HasSubstr("s.yaml:5:5: unknown key \"providers[0].versio\""),
          HasSubstr("s.yaml:6:14: key \"providers[0].version\""),
          HasSubstr("s.yaml:7:14: key \"providers[0].options\": expected a map"),
          HasSubstr("s.yaml:8:20: key \"providers[0].devices[1]\": expected text"),
          HasSubstr("s.yaml:8:23: key \"providers[0].devices[2]\": \"npu\" is listed twice"),
          HasSubstr("s.yaml:9:5: key \"providers[1]\": expected a map"),
          HasSubstr("s.yaml:10:15: key \"providers[2].provider\": expected text"),
          HasSubstr("s.yaml:11:5: key \"providers[3]\": the provider \"ACME\" is listed"),
          HasSubstr("s.yaml:12:14: key \"session.a\": expected one value")));
}

TEST(ExaminedSelection, HasWhatCouldBeRead) {
  const ExaminedSelection examined = examine_selection(
      "selection: 1\nproviders:\n  - provider: acme\n    version: ~2\n    options: {x: 1, y: []}\n"
      "  - cpu\nsession: {a: [1], b: 2}\n",
      "s.yaml");
  ASSERT_EQ(examined.selection.providers.size(), 2U);
  ASSERT_EQ(examined.providers.size(), 2U);
  EXPECT_THAT(examined.selection.providers[0].options, ElementsAre(Pair("x", "1")));
  EXPECT_EQ(examined.providers[0].name.line, 3);
  EXPECT_EQ(examined.providers[0].version.line, 4);
  ASSERT_EQ(examined.providers[0].options.size(), 1U);
  EXPECT_EQ(examined.providers[0].options[0].column, 18);
  EXPECT_EQ(examined.providers[1].version.line, 6);  // it has none
  EXPECT_THAT(examined.selection.session_entries, ElementsAre(Pair("b", "2")));
  ASSERT_EQ(examined.session_entries.size(), 1U);
  EXPECT_EQ(examined.session_entries[0].column, 22);
}

TEST(ExaminedSelection, EndsWhereTheTextIsNotYaml) {
  const ExaminedSelection examined =
      examine_selection("selection: 1\nselection: 1\nproviders: [3]\n", "s.yaml");
  ASSERT_EQ(examined.errors.size(), 1U);
  EXPECT_EQ(examined.errors[0].place.line, 2);
  EXPECT_THAT(errors_in("providers: [3]"), ElementsAre(HasSubstr("\"selection\" is missing")));
  EXPECT_THAT(errors_in("[]"), ElementsAre(HasSubstr("expected a map")));
  EXPECT_THAT(errors_in("selection: 1"), ElementsAre(HasSubstr("\"providers\" is missing")));
}

TEST(Selection, LoadsFromAFile) {
  ephost::test::TempDirectory dir;
  EXPECT_THAT(load_selection(dir.write("s.yaml", kSample)), IsOk());
  EXPECT_EQ(load_selection(dir / "none.yaml").status().code(), StatusCode::kNoSuchFile);
}

TEST(Selection, IsNotLoadedWhereOthersMayChangeIt) {
  const ephost::test::TempDirectory dir;
  const std::filesystem::path file = dir.write("folder/s.yaml", kSample);
  ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
  std::filesystem::permissions(dir / "folder",
                               std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
  EXPECT_THAT(load_selection(file), IsOk()) << "a folder with the sticky bit, such as /tmp";
  std::filesystem::permissions(dir / "folder", std::filesystem::perms::all);
  const Status refused = load_selection(file).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("has the mode 0777"));
  std::filesystem::permissions(dir / "folder", std::filesystem::perms::owner_all);
  std::filesystem::permissions(file, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(load_selection(file).status().message(), HasSubstr("the file \"" + file.string()));
}

}  // namespace
}  // namespace ephost::manifest::selection_test
