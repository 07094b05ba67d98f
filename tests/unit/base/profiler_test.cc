#include "host/base/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace ephost::profiler_test {
namespace {

using ::testing::HasSubstr;

TEST(Profiler, WritesEachEventWithNameCategoryAndArguments) {
  Profiler profiler("");
  profiler.add("step", "conv1", Profiler::Clock::now(), {{"op_type", "Conv"}, {"provider", "cpu"}});
  const std::string json = profiler.to_json();
  EXPECT_THAT(json, HasSubstr(R"({"name":"conv1","cat":"step","ph":"X","pid":)"));
  EXPECT_THAT(json, HasSubstr(R"("args":{"op_type":"Conv","provider":"cpu"}})"));
}

TEST(Profiler, MeasuresMicrosecondsFromItsBeginning) {
  Profiler profiler("");
  const auto start = Profiler::Clock::now();
  while (Profiler::Clock::now() - start < std::chrono::microseconds(50)) {
  }
  profiler.add("run", "run", start);
  const std::string json = profiler.to_json();
  const double length = std::stod(json.substr(json.find("\"dur\":") + 6));
  EXPECT_GE(length, 50);
  EXPECT_LT(std::stod(json.substr(json.find("\"ts\":") + 5)), 1e6);
}

TEST(Profiler, EscapesWhatJsonDoesNotAllow) {
  Profiler profiler("");
  profiler.add("step", "a \"b\"\\\n\x01 \xc3\xa4", Profiler::Clock::now());
  profiler.add("step", "\xff", Profiler::Clock::now());
  EXPECT_THAT(profiler.to_json(), HasSubstr("\"a \\\"b\\\"\\\\\\u000a\\u0001 \xc3\xa4\""));
  EXPECT_THAT(profiler.to_json(), HasSubstr("{\"name\":\"\ufffd\""));
}

TEST(Profiler, RecordsNothingAfterItsEnd) {
  Profiler profiler("");
  profiler.stop();
  profiler.add("run", "run", Profiler::Clock::now());
  EXPECT_EQ(profiler.to_json(), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[]}\n");
}

TEST(Profiler, TellsThreadsApart) {
  Profiler profiler("");
  profiler.add("run", "one", Profiler::Clock::now());
  std::thread([&] { profiler.add("run", "two", Profiler::Clock::now()); }).join();
  const std::string json = profiler.to_json();
  const size_t first = json.find("\"tid\":");
  const size_t second = json.find("\"tid\":", first + 1);
  EXPECT_NE(json.substr(first, 9), json.substr(second, 9));
}

TEST(Profiler, ShowsEventsFromElsewhereInRowsOfTheirOwn) {
  Profiler profiler("");
  const auto start = Profiler::Clock::now();
  profiler.add_foreign(
      "Acme", {{"kernel", "conv", "queue 1", start, std::chrono::nanoseconds(1500), {{"run", "7"}}},
               {"kernel", "pool", "queue 2", start, {}, {}},
               {"kernel", "gemm", "queue 1", start, {}, {}}});
  profiler.add_foreign("Silent", {});
  const std::string json = profiler.to_json();
  EXPECT_THAT(json, HasSubstr(R"("args":{"name":"Acme"}})"));
  EXPECT_THAT(json, HasSubstr(R"("args":{"name":"queue 2"}})"));
  EXPECT_THAT(json, HasSubstr(R"("dur":1.500,"args":{"run":"7"}})"));
  EXPECT_THAT(json, ::testing::Not(HasSubstr("Silent")));
  const auto row_of = [&](const std::string& event) {
    const size_t at = json.find("\"tid\":", json.find("\"" + event + "\""));
    return json.substr(at, json.find(',', at) - at);
  };
  EXPECT_EQ(row_of("conv"), row_of("gemm"));
  EXPECT_NE(row_of("conv"), row_of("pool"));
}

TEST(Profiler, ShowsEventsFromBeforeItsBeginning) {
  const auto start = Profiler::Clock::now() - std::chrono::seconds(1);
  Profiler profiler("");
  profiler.add_foreign("Acme", {{"kernel", "conv", "queue", start, {}, {}}});
  EXPECT_THAT(profiler.to_json(), HasSubstr("\"ts\":-1000"));
}

TEST(Profiler, NamesTheFileThatCannotBeWritten) {
  const Status status = Profiler("/nowhere/at/all.json").write();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("/nowhere/at/all.json"));
}

}  // namespace
}  // namespace ephost::profiler_test
