#include <ephost/compile_model.h>
#include <ephost/value_file.h>

// Contexts that are written twice, and restored here and in other processes.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/text.h"
#include "host/conformance/claims/asked.h"
#include "host/conformance/contexts/compiled.h"
#include "host/conformance/contexts/context_checks.h"
#include "host/conformance/kit/part.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"
#include "host/manifest/manifest.h"

namespace ephost::conformance {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kRestoreAdvice =
    "write into the payload all that the computation needs, and no address, handle or index of "
    "this "
    "process";
constexpr const char* kBytesAdvice =
    "write no address, time, random number or uninitialised byte, and nothing in the order of a "
    "hash table; or take \"deterministic: true\" out of the manifest";

SampleRequest request_for_restoring(const Bench& bench) {
  return {.count = bench.by_level<size_t>(10, 80),
          .time = bench.by_level(milliseconds(300), milliseconds(8'000))};
}

bool promises_same_bytes(const Subject& subject) {
  const Result<manifest::Manifest> manifest = manifest::load_manifest(subject.manifest);
  return manifest.ok() && manifest->deterministic;
}

// What is wrong with the session's results, beside those of the model itself.
void judge_restored(const Sample& sample, std::string_view how, Result<Session> restored,
                    Session& original, Report& report) {
  if (!restored.ok()) {
    report.fail(formatted("{}: its context cannot be restored {}: {}", sample.name, how,
                          restored.status().message()),
                kRestoreAdvice);
    return;
  }
  for (size_t set = 0; set < sample.inputs.size(); ++set) {
    const Result<Values> expected = original.run(sample.inputs[set]);
    if (!expected.ok()) continue;
    const Result<Values> outputs = restored->run(sample.inputs[set]);
    const auto difference =
        outputs.ok() ? find_difference(*outputs, *expected) : outputs.status().message();
    if (!difference) continue;
    report.fail(formatted("{}: its context, restored {}, gives another result: {}", sample.name,
                          how, *difference),
                kRestoreAdvice);
    return;
  }
}

// With payloads in files.
Result<Session> restore_from_files(const Bench& bench, const Sample& sample) {
  ModelCompilationOptions compilation;
  compilation.input_model_buffer = std::as_bytes(std::span(sample.model));
  compilation.output_model_path = bench.subject().scratch / "model_ctx.onnx";
  compilation.ep_context_embed_mode = false;
  EPHOST_RETURN_IF_ERROR(compile_model(bench.environment(), bench.options(), compilation).status());
  return Session::create(bench.environment(), compilation.output_model_path, bench.options());
}

// The payloads and compatibility texts as one line.
std::string digest_of(const Compiled& compiled) {
  std::string text;
  for (const auto& [name, payload] : compiled.payloads) {
    const Hash128 hash = content_checksum(std::as_bytes(std::span(payload)));
    text += formatted("{}:{}:{:016x}{:016x} ", name, payload.size(), hash.high, hash.low);
  }
  for (const auto& [of, stated] : compiled.compatibility) text += of + "=" + quote(stated) + " ";
  return text;
}

fs::path file_in(const Subject& subject, std::string_view what, size_t model, size_t index = 0) {
  return subject.scratch / formatted("{}_{}_{}", what, model, index);
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void compare_payloads(const CompiledSample& one, std::string_view how, const std::string& now,
                      const std::string& before, bool is_promised, uint64_t& varying,
                      Report& report) {
  if (now == before) return;
  ++varying;
  if (!is_promised) return;
  report.fail(formatted("{}: the payloads {} differ: {} and {}", one.sample.name, how, now, before),
              kBytesAdvice);
}

}  // namespace

void check_written_contexts(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  if (bench->plugin().context_sources.empty()) {
    return report.leave_out("the manifest lists no context sources");
  }
  const Budget budget(bench->by_level(milliseconds(500), milliseconds(10'000)));
  uint64_t compiled = 0;
  for (const NamedModel& model : various_models(subject, bench->by_level<size_t>(30, 200))) {
    if (budget.is_spent() && compiled > 0) break;
    const Result<Asked> asked = ask(*bench, model.bytes, bench->options());
    if (!asked.ok() || asked->prepared.partition_count() == 0) continue;
    const Result<Session> session = bench->load(model.bytes, bench->options());
    if (!session.ok() || !session->fallbacks().empty()) continue;  // for the checks of claims
    ++compiled;
    const Status status = compile(*bench, model.bytes).status();
    if (status.ok()) continue;
    return report.fail(
        formatted("{} is compiled, but its context cannot be written: {}", model.name,
                  status.message()),
        "write a node and a payload for each computation in get_ep_context_nodes, or take "
        "context_sources out of the manifest");
  }
  if (compiled == 0) return report.leave_out("the provider compiles nothing of the models");
  report.note("models", static_cast<double>(compiled));
}

void check_restored_contexts(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  uint64_t restored = 0;
  for (const auto& [sample, compiled] :
       need_compiled(*bench, request_for_restoring(*bench), report)) {
    Result<Session> original = bench->load(sample.model, bench->options());
    if (!original.ok()) continue;
    judge_restored(sample, "from the model", bench->load(compiled.model, bench->options()),
                   *original, report);
    judge_restored(sample, "from a file", restore_from_files(*bench, sample), *original, report);
    judge_restored(sample, "under the layer validate",
                   bench->load(compiled.model, bench->guarded()), *original, report);
    bench->layer_findings().report(sample.name, report);
    // Two providers with the same payload.
    const Result<Session> other = bench->load(compiled.model, bench->options());
    judge_restored(sample, "a second time", bench->load(compiled.model, bench->options()),
                   *original, report);
    restored += 4;
  }
  report.note("contexts restored", static_cast<double>(restored));
}

void check_same_bytes(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const bool is_promised = promises_same_bytes(subject);
  uint64_t varying = 0;
  for (const CompiledSample& one : need_compiled(*bench, request_for_restoring(*bench), report)) {
    for (uint64_t round = 0; round < 3; ++round) {
      const Disturbance disturbance(subject.seed + round);
      const Result<Compiled> again = compile(*bench, one.sample.model);
      if (!again.ok()) continue;
      compare_payloads(one, "of two providers", digest_of(*again), digest_of(one.compiled),
                       is_promised, varying, report);
    }
  }
  report.note("payloads that vary", static_cast<double>(varying));
}

std::string compile_here(const Subject& subject, std::span<const std::string> arguments) {
  const Disturbance disturbance(std::stoull(arguments[1]));
  Result<Bench> bench = Bench::open(subject);
  if (!bench.ok()) return bench.status().message();
  std::string lines;
  for (size_t i = 0; i < std::stoull(arguments[0]); ++i) {
    const Result<std::string> model = read_file(file_in(subject, "model", i));
    if (!model.ok()) return model.status().message();
    const Result<Compiled> compiled = compile(*bench, *model);
    lines += (compiled.ok() ? digest_of(*compiled) : compiled.status().message()) + "\n";
  }
  return lines;
}

void check_same_bytes_elsewhere(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const bool is_promised = promises_same_bytes(subject);
  const std::vector<CompiledSample> samples =
      need_compiled(*bench, request_for_restoring(*bench), report);
  for (size_t i = 0; i < samples.size(); ++i) {
    write_file(file_in(subject, "model", i), samples[i].sample.model);
  }
  uint64_t varying = 0;
  for (int process = 0; process < bench->by_level(2, 6) && !samples.empty(); ++process) {
    const std::array<std::string, 2> arguments = {std::to_string(samples.size()),
                                                  std::to_string(process)};
    const Result<std::string> answer = run_part(subject, kCompilePart, arguments, seconds(100));
    if (!answer.ok()) return report.fail(answer.status().message(), "see what the process wrote");
    std::istringstream lines(*answer);
    std::string line;
    for (size_t i = 0; i < samples.size() && std::getline(lines, line); ++i) {
      compare_payloads(samples[i], "of two processes", line, digest_of(samples[i].compiled),
                       is_promised, varying, report);
    }
  }
  report.note("payloads that vary", static_cast<double>(varying));
}

// Arguments: how many models there are, how many inputs each of them has and how many outputs.
// Restores each context of the scratch folder, runs it on the inputs that lie there, and puts its
// outputs there. Returns what fails, a line for each.
std::string restore_here(const Subject& subject, std::span<const std::string> arguments) {
  const Disturbance disturbance(subject.seed + 7);
  Result<Bench> bench = Bench::open(subject);
  if (!bench.ok()) return bench.status().message();
  std::string failures;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Result<std::string> model = read_file(file_in(subject, "context", i));
    if (!model.ok()) return model.status().message();
    Inputs inputs;
    for (size_t k = 0; k < std::stoull(arguments[i]); ++k) {
      Result<NamedValue> input = read_value_file(file_in(subject, "input", i, k));
      if (!input.ok()) return input.status().message();
      inputs.push_back(std::move(*input));
    }
    Result<Session> session = bench->load(*model, bench->options());
    Result<Values> outputs = session.ok() ? session->run(inputs) : session.status();
    if (!outputs.ok()) {
      failures += formatted("{} {}\n", i, outputs.status().message());
      continue;
    }
    for (size_t k = 0; k < outputs->size(); ++k) {
      const NamedValue named = {"output", (*outputs)[k]};
      const Status status = write_value_file(file_in(subject, "output", i, k), named);
      if (!status.ok()) return status.message();
    }
  }
  return failures;
}

void restore_elsewhere(const Bench& bench, const std::vector<CompiledSample>& samples,
                       Report& report) {
  const Subject& subject = bench.subject();
  std::vector<std::string> arguments;
  std::vector<Values> expected;
  for (const auto& [sample, compiled] : samples) {
    const size_t i = arguments.size();
    Result<Session> session = bench.load(sample.model, bench.options());
    Result<Values> outputs = session.ok() ? session->run(sample.inputs.front()) : session.status();
    if (!outputs.ok()) continue;
    write_file(file_in(subject, "context", i), compiled.model);
    for (size_t k = 0; k < sample.inputs.front().size(); ++k) {
      const Status status =
          write_value_file(file_in(subject, "input", i, k), sample.inputs.front()[k]);
      if (!status.ok()) return report.leave_out(status.message());
    }
    arguments.push_back(std::to_string(sample.inputs.front().size()));
    expected.push_back(std::move(*outputs));
  }
  if (arguments.empty()) return;
  const Result<std::string> answer = run_part(subject, kRestorePart, arguments, seconds(100));
  if (!answer.ok() || !answer->empty()) {
    return report.fail(formatted("contexts cannot be restored in another process: {}",
                                 answer.ok() ? *answer : answer.status().message()),
                       kRestoreAdvice);
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    Values outputs;
    for (size_t k = 0; k < expected[i].size(); ++k) {
      const Result<NamedValue> output = read_value_file(file_in(subject, "output", i, k));
      if (output.ok()) outputs.push_back(output->value);
    }
    const auto difference = find_difference(outputs, expected[i]);
    if (!difference) continue;
    report.fail(
        formatted("model {}: its context, restored in another process, gives another result: "
                  "{}",
                  i, *difference),
        kRestoreAdvice);
  }
  report.note("contexts restored", static_cast<double>(expected.size()));
}

void check_contexts_elsewhere(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  SampleRequest request = request_for_restoring(*bench);
  request.wants_backend_tests = false;  // whose inputs may be anything
  restore_elsewhere(*bench, need_compiled(*bench, request, report), report);
}

void check_compatibility(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const auto samples = need_compiled(*bench, {.count = 6, .time = milliseconds(2000)}, report);
  if (samples.empty()) return;
  const auto& [sample, compiled] = samples.front();
  if (compiled.compatibility.empty()) {
    return report.leave_out("the provider gives no compatibility text");
  }
  const std::string own = compiled.compatibility.front().second;
  std::vector<std::string> texts = {"elsewhere 1.0", std::string(4000, 'x'), own + own,
                                    own.substr(0, own.size() / 2), "\xC3\xA4 {}%s"};
  Dice dice(formatted("texts {}", subject.seed));
  for (int i = 0; i < bench->by_level(20, 500); ++i) {
    std::string text = own;
    for (int64_t changes = dice.roll(1, 4); changes > 0 && !text.empty(); --changes) {
      dice.pick(text) = static_cast<char>(dice.roll(32, 126));
    }
    texts.push_back(std::move(text));
  }
  Result<Session> original = bench->load(sample.model, bench->options());
  uint64_t refused = 0;
  for (const std::string& text : texts) {
    const Result<std::string> model = with_compatibility(compiled.model, text);
    if (!model.ok() || !original.ok()) continue;
    Result<Session> session = bench->load(*model, bench->options());
    if (session.ok()) {
      judge_restored(sample, formatted("with the text {}", quote(text)), std::move(session),
                     *original, report);
    } else {
      ++refused;
    }
  }
  if (!bench->load(compiled.model, bench->options()).ok()) {
    report.fail(formatted("the text {} is refused by the provider that wrote it", quote(own)),
                "judge a text of the same plugin and device as optimal");
  }
  report.note("texts", static_cast<double>(texts.size()));
  report.note("texts refused", static_cast<double>(refused));
}

}  // namespace ephost::conformance
