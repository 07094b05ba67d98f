#include "host/manifest/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ephost::manifest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Manifest manifest(const std::string& provider, const std::string& name,
                  const std::string& version) {
  Manifest result;
  result.file = "/plugins/" + name + "-" + version + ".yaml";
  result.provider = provider;
  result.name = name;
  result.version = Version::parse(version).value();
  return result;
}

// What is installed in these tests.
SearchResult installed() {
  SearchResult result;
  result.found = {{manifest("CPUExecutionProvider", "cpu", "0.1.0"), "/plugins/libcpu.so"},
                  {manifest("DnnlExecutionProvider", "dnnl", "2.0.0"), "/plugins/libdnnl2.so"},
                  {manifest("DnnlExecutionProvider", "dnnl", "1.4.0"), "/plugins/libdnnl1.so"}};
  result.directories = {{"/plugins", SearchOrigin::kGiven}, {"/more", SearchOrigin::kSystem}};
  return result;
}

ProviderChoice choice(const std::string& name, std::string_view range = "") {
  ProviderChoice result;
  result.name = name;
  if (!range.empty()) result.version = VersionRange::parse(range).value();
  return result;
}

std::string error_of(const SearchResult& plugins, const ProviderChoice& wanted) {
  const Result<FoundPlugin> result = choose_plugin(plugins, wanted);
  return result.ok() ? "accepted" : result.status().to_string();
}

TEST(Choose, TakesTheHighestVersion) {
  EXPECT_EQ(choose_plugin(installed(), choice("DnnlExecutionProvider")).value().library,
            "/plugins/libdnnl2.so");
}

TEST(Choose, TakesTheHighestVersionInRange) {
  EXPECT_EQ(choose_plugin(installed(), choice("dnnl", "<2")).value().library,
            "/plugins/libdnnl1.so");
}

TEST(Choose, KnowsAProviderByItsShortNameInAnyCase) {
  EXPECT_EQ(choose_plugin(installed(), choice("CPU")).value().manifest.provider,
            "CPUExecutionProvider");
}

TEST(Choose, PrefersATypeNameOverAShortName) {
  SearchResult plugins = installed();
  plugins.found.push_back({manifest("cpu", "other", "9.0.0"), "/plugins/other.so"});
  EXPECT_EQ(choose_plugin(plugins, choice("cpu")).value().library, "/plugins/other.so");
}

TEST(Choose, SaysWhatIsWantedInstalledAndSearched) {
  EXPECT_EQ(
      error_of(installed(), choice("AcmeExecutionProvider", ">=1")),
      "NOT_FOUND: no plugin offers the provider \"AcmeExecutionProvider\" with version >=1; "
      "installed: CPUExecutionProvider (cpu) 0.1.0, "
      "DnnlExecutionProvider (dnnl) 2.0.0, DnnlExecutionProvider (dnnl) 1.4.0; searched: "
      "\"/plugins\", \"/more\"; install its library and manifest in one of these directories or "
      "add theirs");
}

TEST(Choose, SaysThatNoVersionIsInRange) {
  EXPECT_THAT(
      error_of(installed(), choice("dnnl", ">=3")),
      AllOf(HasSubstr("the provider \"dnnl\" with version >=3"), Not(HasSubstr("did you mean"))));
}

TEST(Choose, SuggestsTheNearestName) {
  EXPECT_THAT(error_of(installed(), choice("dnn")), HasSubstr("did you mean \"dnnl\"?"));
  EXPECT_THAT(error_of(installed(), choice("DnlExecutionProvider")),
              HasSubstr("did you mean \"dnnl\"?"));
  EXPECT_THAT(error_of(installed(), choice("dnnlexecutionprovider")),
              HasSubstr("did you mean \"dnnl\"?"));
}

TEST(Choose, SuggestsNothingForAnotherProvider) {
  EXPECT_THAT(error_of(installed(), choice("AcmeExecutionProvider")),
              Not(HasSubstr("did you mean")));
}

TEST(Choose, ManagesWhenNothingIsInstalled) {
  EXPECT_THAT(error_of({}, choice("cpu")),
              AllOf(HasSubstr("installed: nothing"), HasSubstr("searched: nowhere")));
}

TEST(Choose, MentionsManifestsThatWereSkippedAndMayHaveBeenMeant) {
  SearchResult plugins = installed();
  const auto skip = [](std::string reason) { return Status(StatusCode::kFail, std::move(reason)); };
  plugins.skipped.push_back({"/x", skip("of another provider"), manifest("B", "b", "1.0.0")});
  plugins.skipped.push_back(
      {"/y", skip("wrong platform"), manifest("AcmeProvider", "acme", "1.0.0")});
  plugins.skipped.push_back({"/z", skip("unreadable"), std::nullopt});
  EXPECT_THAT(error_of(plugins, choice("acme")),
              AllOf(HasSubstr("skipped: wrong platform; skipped: unreadable"),
                    Not(HasSubstr("of another provider"))));
}

TEST(Choose, RefusesAShortNameOfSeveralProviders) {
  SearchResult plugins = installed();
  plugins.found.push_back({manifest("OtherExecutionProvider", "dnnl", "1.0.0"), "/o.so"});
  EXPECT_THAT(error_of(plugins, choice("dnnl")),
              AllOf(HasSubstr("INVALID_ARGUMENT: the short name \"dnnl\" means several providers: "
                              "DnnlExecutionProvider of \"/plugins/dnnl-2.0.0.yaml\" and "
                              "OtherExecutionProvider"),
                    HasSubstr("name one by its type name")));
}

TEST(Choose, KeepsTheOrderAndOptionsOfTheSelection) {
  Selection selection;
  selection.providers = {choice("dnnl"), choice("cpu")};
  selection.providers[0].options = {{"num_threads", "2"}};
  const Result<std::vector<ChosenPlugin>> chosen = choose_plugins(installed(), selection);
  ASSERT_TRUE(chosen.ok());
  ASSERT_EQ(chosen->size(), 2U);
  EXPECT_EQ((*chosen)[0].plugin.manifest.name, "dnnl");
  EXPECT_EQ((*chosen)[0].options, selection.providers[0].options);
  EXPECT_EQ((*chosen)[1].plugin.manifest.name, "cpu");
}

TEST(Choose, NamesTheSelectionFileInAFailure) {
  Selection selection;
  selection.file = "/s.yaml";
  selection.providers = {choice("gpu9000")};
  const Result<std::vector<ChosenPlugin>> chosen = choose_plugins(installed(), selection);
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(chosen.status().message(), HasSubstr("(while reading the selection \"/s.yaml\")"));
}

TEST(Choose, RefusesTwoNamesOfOneProvider) {
  Selection selection;
  selection.providers = {choice("dnnl"), choice("DnnlExecutionProvider")};
  const Result<std::vector<ChosenPlugin>> chosen = choose_plugins(installed(), selection);
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(chosen.status().message(),
              HasSubstr("DnnlExecutionProvider is selected twice, the second time as "
                        "\"DnnlExecutionProvider\"; remove one of the two"));
}

}  // namespace
}  // namespace ephost::manifest
