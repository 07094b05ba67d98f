// The checks of claims: that they lie within the graph, and depend on nothing but the graph.
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/conformance/claims/asked.h"
#include "host/conformance/claims/claim_checks.h"
#include "host/conformance/claims/variants.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/kit/part.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kStableAdvice =
    "decide by the graph alone: not by addresses, the order of hash tables, time or earlier calls";
constexpr std::string_view kClaimPart = "claims";

SampleRequest request_for_claims(const Bench& bench) {
  return {.count = bench.by_level<size_t>(24, 100),
          .time = bench.by_level(milliseconds(1500), milliseconds(10'000))};
}

void find_different(const Sample& sample, std::string_view how, const std::string& now,
                    const std::string& before, Report& report) {
  if (now == before) return;
  report.fail(
      formatted("{}: the claims are {} {}, and {} otherwise", sample.name, now, how, before),
      kStableAdvice);
}

void check_sound_claims(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  uint64_t claims = 0;
  for (const Sample& sample : need_samples(*bench, request_for_claims(*bench), report)) {
    const Result<Asked> asked = ask(*bench, sample.model, bench->options());
    if (!asked.ok()) {
      report.fail(formatted("{}: {}", sample.name, asked.status().message()),
                  "say what the provider claims, or claim nothing");
      continue;
    }
    for (const partition::Claim& claim : asked->claims) {
      ++claims;
      const std::string defect = defect_of(asked->prepared.model.graph, claim);
      if (defect.empty()) continue;
      report.fail(formatted("{}: a claim can never be granted, as {}", sample.name, defect),
                  "claim sets of distinct nodes that the rest of the graph does not lead back to");
    }
  }
  report.note("claims", static_cast<double>(claims));
}

void check_repeated_questions(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  for (const Sample& sample : need_samples(*bench, request_for_claims(*bench), report)) {
    const Result<Asked> first = ask(*bench, sample.model, bench->options());
    const Disturbance disturbance(subject.seed);
    const Result<Asked> second = ask(*bench, sample.model, bench->options());
    if (!first.ok() || !second.ok()) continue;
    find_different(sample, "of a second provider", fingerprint(*second, {}, true),
                   fingerprint(*first, {}, true), report);
  }
}

std::filesystem::path model_file(const Subject& subject, size_t i) {
  return subject.scratch / formatted("model{}.onnx", i);
}

// Arguments: how many models there are in the scratch folder, and a seed. Returns a line for each.
std::string claims_here(const Subject& subject, std::span<const std::string> arguments) {
  const Disturbance disturbance(std::stoull(arguments[1]));
  Result<Bench> bench = Bench::open(subject);
  if (!bench.ok()) return bench.status().message();
  std::string lines;
  for (size_t i = 0; i < std::stoull(arguments[0]); ++i) {
    const Result<std::string> model = read_file(model_file(subject, i));
    if (!model.ok()) return model.status().message();
    const Result<Asked> asked = ask(*bench, *model, bench->options());
    lines += (asked.ok() ? fingerprint(*asked, {}, true) : asked.status().message()) + "\n";
  }
  return lines;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void check_other_processes(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const std::vector<Sample> samples = need_samples(*bench, request_for_claims(*bench), report);
  for (size_t i = 0; i < samples.size(); ++i) {
    std::ofstream(model_file(subject, i), std::ios::binary) << samples[i].model;
  }
  std::vector<std::string> first;
  for (int process = 0; process < bench->by_level(3, 8) && !samples.empty(); ++process) {
    const std::array<std::string, 2> arguments = {std::to_string(samples.size()),
                                                  std::to_string(process)};
    const Result<std::string> answer = run_part(subject, kClaimPart, arguments, seconds(60));
    if (!answer.ok()) {
      report.fail(answer.status().message(), "see what the process wrote");
      return;
    }
    const std::vector<std::string> lines = split_lines(*answer);
    if (first.empty()) first = lines;
    for (size_t i = 0; i < std::min({samples.size(), lines.size(), first.size()}); ++i) {
      find_different(samples[i], "in another process", lines[i], first[i], report);
    }
  }
}

// Asks about variants of models, which `vary` makes of a copy; it returns the old names.
template <class Vary>
void check_variants(const Subject& subject, Report& report, const char* how, const Vary& vary) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  SessionOptions options = bench->options();
  options.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
  Dice dice(formatted("{} {}", how, subject.seed));
  uint64_t varied = 0;
  for (const Sample& sample : need_samples(*bench, request_for_claims(*bench), report)) {
    onnx::ModelProto model;
    if (!model.ParseFromString(sample.model) || !can_be_varied(model)) continue;
    const Names names = vary(model, dice);
    const std::string variant = model.SerializeAsString();
    const Result<Asked> given = ask(*bench, sample.model, options);
    const Result<Asked> other = ask(*bench, variant, options);
    if (!given.ok() || !other.ok()) continue;
    ++varied;
    find_different(sample, how, fingerprint(*other, names), fingerprint(*given), report);
  }
  report.note("models", static_cast<double>(varied));
}

void check_initializer_order(const Subject& subject, Report& report) {
  check_variants(subject, report, "with its initializers in another order",
                 [](onnx::ModelProto& model, Dice& dice) {
                   shuffle_initializers(model, dice);
                   return Names();
                 });
}

void check_node_names(const Subject& subject, Report& report) {
  check_variants(subject, report, "with other names",
                 [](onnx::ModelProto& model, Dice& dice) { return rename(model, dice); });
}

void compare_groupings(const Sample& sample, Session& plain, Session& regrouped, Report& report) {
  constexpr const char* kAdvice =
      "compile each partition by itself: what compile makes of one depends on no other, on no "
      "order "
      "and on no earlier call";
  if (regrouped.fallbacks().size() > plain.fallbacks().size()) {
    report.fail(formatted("{}: compile fails where the groups are others: {}", sample.name,
                          regrouped.fallbacks().back().reason.message()),
                kAdvice);
    return;
  }
  for (const Inputs& inputs : sample.inputs) {
    const Result<Values> expected = plain.run(inputs);
    const Result<Values> outputs = regrouped.run(inputs);
    if (!expected.ok()) continue;
    const std::optional<std::string> wrong =
        outputs.ok() ? find_difference(*outputs, *expected) : outputs.status().message();
    if (wrong) {
      report.fail(
          formatted("{}: compiled in other groups, it runs differently: {}", sample.name, *wrong),
          kAdvice);
      return;
    }
  }
}

void check_groupings(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  SessionOptions options = bench->options();
  options.add_config_entry("session.layers." + bench->plugin().name, "regroup");
  uint64_t models = 0;
  for (const Sample& sample : need_samples(*bench, request_for_claims(*bench), report)) {
    Result<Session> plain = bench->load(sample.model, bench->options());
    Result<Session> regrouped = bench->load(sample.model, options);
    if (!plain.ok()) continue;
    if (!regrouped.ok()) {
      report.fail(formatted("{}: {}", sample.name, regrouped.status().message()),
                  "compile partitions in any groups");
      continue;
    }
    compare_groupings(sample, *plain, *regrouped, report);
    ++models;
  }
  report.note("models", static_cast<double>(models));
}

constexpr std::array kClaimChecks = {
    Check{24, 1, "sound-claims", "Every claim names distinct nodes that can be compiled as one",
          Level::kBasic, seconds(120), &check_sound_claims},
    Check{24, 2, "repeated-claims", "A second provider claims the same of the same graph",
          Level::kBasic, seconds(120), &check_repeated_questions},
    Check{24, 3, "claims-in-other-processes", "The claims are the same in other processes",
          Level::kBasic, seconds(300), &check_other_processes},
    Check{24, 4, "order-of-initializers", "The order of the initializers changes no claim",
          Level::kBasic, seconds(120), &check_initializer_order},
    Check{24, 5, "names-of-nodes", "The names of nodes and values change no claim", Level::kBasic,
          seconds(120), &check_node_names},
    Check{24, 6, "groups-of-partitions", "Partitions may be compiled in any groups and any order",
          Level::kBasic, seconds(120), &check_groupings},
    Check{24, 7, "answers", "The provider says of every model what it claims", Level::kBasic,
          seconds(300), &check_answers},
    Check{24, 8, "claims-compile", "What is claimed can be compiled", Level::kBasic, seconds(300),
          &check_claims_compile},
    Check{24, 9, "foreign-domain", "Operators of an unknown domain are left alone", Level::kBasic,
          seconds(60), &check_foreign_domain},
    Check{24, 10, "time-of-claims", "The time to claim grows as the number of nodes does",
          Level::kBasic, seconds(120), &check_time_of_claims},
};
constexpr std::array kClaimParts = {Part{kClaimPart, &claims_here}};

}  // namespace

std::span<const Check> claim_checks() { return kClaimChecks; }
std::span<const Part> claim_parts() { return kClaimParts; }

}  // namespace ephost::conformance
