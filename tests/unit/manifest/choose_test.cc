#include "host/manifest/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"

namespace ephost::manifest::choose_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Manifest manifest(const std::string& provider, const std::string& name,
                  const std::string& version) {
  Manifest result;
  result.file = "/plugins/" + name + "-" + version + ".yaml";
  result.provider = provider;
  result.name = name;
  result.version = Version::parse(version).value();
  return result;
}

// The plugins that are installed in these tests.
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
  const Result<Candidates> result = find_candidates(plugins, wanted);
  return result.ok() ? "accepted" : result.status().to_string();
}

// The libraries of the candidates.
std::vector<std::string> found(const SearchResult& plugins, const ProviderChoice& wanted) {
  std::vector<std::string> libraries;
  const Candidates candidates = find_candidates(plugins, wanted).value();
  for (const FoundPlugin& plugin : candidates.plugins) {
    libraries.push_back(plugin.library.native());
  }
  return libraries;
}

Manifest layer(const std::string& name, const std::string& version, const std::string& vendor) {
  Manifest result = manifest("", name, version);
  result.kind = Kind::kLayer;
  result.vendor = vendor;
  return result;
}

SearchResult with_layers() {
  SearchResult result = installed();
  result.layers = {{layer("counter", "2.0.0", "acme"), "/plugins/libcounter2.so"},
                   {layer("counter", "1.0.0", "acme"), "/plugins/libcounter1.so"},
                   {layer("tracer", "1.0.0", "acme"), "/plugins/libtracer.so"}};
  return result;
}

TEST(Choose, TriesTheHighestVersionOfALayerFirst) {
  const Result<Candidates> found = find_layer(with_layers(), "counter");
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->plugins.size(), 2U);
  EXPECT_EQ(found->plugins[0].library, "/plugins/libcounter2.so");
  EXPECT_EQ(found->provider(), "counter");
}

TEST(Choose, SuggestsALayerForAnUnknownName) {
  EXPECT_EQ(find_layer(with_layers(), "countr").status().message(),
            "there is no layer \"countr\"; did you mean \"counter\"?; the layers are: trace, "
            "validate, regroup, counter, tracer");
  EXPECT_THAT(find_layer(with_layers(), "dnnl").status().message(),
              HasSubstr("there is no layer \"dnnl\"; the layers are: trace, validate, regroup"));
  EXPECT_THAT(find_layer(installed(), "valdate").status().message(),
              HasSubstr("did you mean \"validate\"?"));
}

TEST(Choose, RefusesALayerNameOfTwoVendors) {
  SearchResult plugins = with_layers();
  plugins.layers.push_back({layer("counter", "9.0.0", "somebody"), "/more/libcounter.so"});
  const Status status = find_layer(plugins, "counter").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("the layer name \"counter\" is ambiguous: acme ships one "
                                          "with \"/plugins/counter-2.0.0.yaml\", and somebody "));
}

TEST(Choose, RefusesALayerAsAProvider) {
  EXPECT_EQ(error_of(with_layers(), choice("Counter")),
            "INVALID_ARGUMENT: \"counter\" is a layer, not a provider; name it with --layer or the "
            "entry session.layers (\"/plugins/counter-2.0.0.yaml\")");
}

TEST(Choose, TriesTheHighestVersionFirst) {
  EXPECT_THAT(found(installed(), choice("DnnlExecutionProvider")),
              ElementsAre("/plugins/libdnnl2.so", "/plugins/libdnnl1.so"));
}

TEST(Choose, TriesEqualVersionsInTheOrderOfTheSearch) {
  SearchResult plugins = installed();
  plugins.found.push_back({manifest("DnnlExecutionProvider", "dnnl", "2.0.0"), "/more/dnnl2.so"});
  EXPECT_THAT(found(plugins, choice("dnnl", "=2")),
              ElementsAre("/plugins/libdnnl2.so", "/more/dnnl2.so"));
}

TEST(Choose, TriesOnlyVersionsInRange) {
  EXPECT_THAT(found(installed(), choice("dnnl", "<2")), ElementsAre("/plugins/libdnnl1.so"));
}

TEST(Choose, KnowsAProviderByItsShortNameInAnyCase) {
  EXPECT_EQ(find_candidates(installed(), choice("CPU")).value().provider(), "CPUExecutionProvider");
}

TEST(Choose, PrefersATypeNameOverAShortName) {
  SearchResult plugins = installed();
  plugins.found.push_back({manifest("cpu", "other", "9.0.0"), "/plugins/other.so"});
  EXPECT_THAT(found(plugins, choice("cpu")), ElementsAre("/plugins/other.so"));
}

TEST(Choose, KeepsWhatTheSearchSkippedOfTheProviderAndMayBeInRange) {
  SearchResult plugins = installed();
  const auto skip = [&](std::string file, std::optional<PluginIdentity> identity) {
    plugins.skipped.push_back({std::move(file), Status(StatusCode::kFail, "bad"), identity});
  };
  const std::string dnnl = "DnnlExecutionProvider";
  skip("/higher", PluginIdentity{dnnl, "dnnl", Version::parse("3.0.0").value()});
  skip("/lower", PluginIdentity{dnnl, "dnnl", Version::parse("1.0.0").value()});
  skip("/unknown", PluginIdentity{dnnl, "", std::nullopt});
  skip("/other", PluginIdentity{"OtherExecutionProvider", "dnnl", std::nullopt});
  skip("/unreadable", std::nullopt);
  std::vector<std::string> files;
  const Candidates candidates = find_candidates(plugins, choice("dnnl", ">=2")).value();
  for (const SkippedManifest& skipped : candidates.skipped) files.push_back(skipped.file.native());
  EXPECT_THAT(files, ElementsAre("/higher", "/unknown"));
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
  plugins.skipped.push_back(
      {"/x", skip("of another provider"), PluginIdentity{"B", "b", std::nullopt}});
  plugins.skipped.push_back(
      {"/y", skip("wrong platform"), PluginIdentity{"AcmeProvider", "acme", std::nullopt}});
  plugins.skipped.push_back({"/z", skip("unreadable"), std::nullopt});
  EXPECT_THAT(error_of(plugins, choice("acme")),
              AllOf(HasSubstr("skipped: wrong platform; skipped: unreadable"),
                    Not(HasSubstr("of another provider"))));
}

TEST(Choose, RefusesAShortNameOfSeveralProviders) {
  SearchResult plugins = installed();
  plugins.found.push_back({manifest("OtherExecutionProvider", "dnnl", "1.0.0"), "/o.so"});
  EXPECT_THAT(error_of(plugins, choice("dnnl")),
              AllOf(HasSubstr("INVALID_ARGUMENT: the short name \"dnnl\" is ambiguous: it means "
                              "DnnlExecutionProvider from \"/plugins/dnnl-2.0.0.yaml\" and "
                              "OtherExecutionProvider"),
                    HasSubstr("name one by its type name")));
}

TEST(Choose, KeepsTheOrderAndOptionsOfTheSelection) {
  Selection selection;
  selection.providers = {choice("dnnl"), choice("cpu")};
  selection.providers[0].options = {{"num_threads", "2"}};
  const Result<std::vector<ChosenProvider>> chosen = choose_providers(installed(), selection);
  ASSERT_THAT(chosen, IsOk());
  ASSERT_EQ(chosen->size(), 2U);
  EXPECT_EQ((*chosen)[0].candidates.plugins[0].manifest.name, "dnnl");
  EXPECT_EQ((*chosen)[0].options, selection.providers[0].options);
  EXPECT_EQ((*chosen)[1].candidates.plugins[0].manifest.name, "cpu");
}

TEST(Choose, NamesTheSelectionFileInAFailure) {
  Selection selection;
  selection.file = "/s.yaml";
  selection.providers = {choice("gpu9000")};
  const Result<std::vector<ChosenProvider>> chosen = choose_providers(installed(), selection);
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(chosen.status().message(), HasSubstr("(while reading the selection \"/s.yaml\")"));
}

TEST(Choose, RefusesTwoNamesOfOneProvider) {
  Selection selection;
  selection.providers = {choice("dnnl"), choice("DnnlExecutionProvider")};
  const Result<std::vector<ChosenProvider>> chosen = choose_providers(installed(), selection);
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(chosen.status().message(),
              HasSubstr("DnnlExecutionProvider is selected twice, the second time as "
                        "\"DnnlExecutionProvider\"; remove one of the two"));
}

}  // namespace
}  // namespace ephost::manifest::choose_test
