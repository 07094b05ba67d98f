#include "host/worker/tables/worker.h"

#include <algorithm>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/printable.h"
#include "host/base/text.h"
#include "host/worker/protocol/calls.h"
#include "host/worker/protocol/error_text.h"
#include "host/worker/protocol/records.h"
#include "host/worker/tables/incoming.h"
#include "host/worker/tables/worker_program.h"

namespace ephost::worker {
namespace {

eph_string id_of(const char* text) { return {text, std::char_traits<char>::length(text)}; }

bool is_probe(uint32_t call) {
  using Api = eph_provider_api;
  return call == kLoad || call == kCall<&Api::get_devices> || call == kCall<&Api::list_targets> ||
         call == kCall<&Api::validate>;
}

LoggingLevel level_of(int32_t severity) {
  switch (severity) {
    case EPH_LOG_INFO:
      return LoggingLevel::kInfo;
    case EPH_LOG_WARNING:
      return LoggingLevel::kWarning;
    default:
      return severity < EPH_LOG_INFO ? LoggingLevel::kVerbose : LoggingLevel::kError;
  }
}

const Log& current_log() {
  static const Log kDefault;
  const Log* const current = LogScope::current();
  return current != nullptr ? *current : kDefault;
}

// Users who ask for a sandbox should know what it does not restrict.
void warn_of_gaps(const WorkerProcess& worker) {
  const std::vector<std::string>& missing = worker.sandbox_report().missing;
  if (missing.empty()) return;
  current_log().write(LoggingLevel::kWarning, worker.name(),
                      formatted("the sandbox has gaps: {}", join(missing, "; ")));
}

}  // namespace

HostTables::HostTables(const eph_host* given) : host(given) {
  const auto find = [&]<class Table>(const char* id, const Table*& table) {
    table = static_cast<const Table*>(given->api->get_extension(given, id_of(id)));
  };
  find(EPH_EXT_PROGRESS, progress);
  find(EPH_EXT_CONSTANTS, constants);
  find(EPH_EXT_THREAD_POOL, threads);
}

// Each call has a thread, and each of these perhaps a team with one for each processor.
uint64_t most_threads_by_default() {
  return std::max<uint64_t>(1024, uint64_t{16} * std::thread::hardware_concurrency());
}

Result<std::shared_ptr<Worker>> Worker::start(const manifest::FoundPlugin& plugin,
                                              const plugin::HostOffer& offer,
                                              const IsolationOptions& options) {
  WorkerOptions process;
  process.program = options.program;
  if (process.program.empty()) {
    EPHOST_ASSIGN_OR_RETURN(process.program, find_worker_program());
  }
  process.name = plugin.manifest.name;
  process.limits = options.limits;
  process.on_failure = [plugin, on_failure = options.on_failure](const Ending& ending) {
    if (on_failure) on_failure(plugin, ending);
  };
  if (options.level == manifest::Isolation::kSandbox) {
    if (process.limits.threads == 0) process.limits.threads = most_threads_by_default();
    process.sandbox = options.files;
    process.sandbox->readable.push_back(plugin.manifest.directory());
    process.sandbox->readable.push_back(plugin.library.parent_path());
  }
  process.start_limit =
      options.calls.probe.count() == 0
          ? process.start_limit
          : std::chrono::duration_cast<std::chrono::milliseconds>(options.calls.probe);
  EPHOST_ASSIGN_OR_RETURN(auto started, WorkerProcess::start(std::move(process)));
  warn_of_gaps(*started);
  if (options.health != nullptr) options.health->add(started->state());
  std::shared_ptr<Worker> worker(new Worker(plugin.manifest.name, std::move(started), options));
  wire::Request request;
  request.set_call(kLoad);
  wire::Load& load = *request.mutable_load();
  load.set_manifest(plugin.manifest.file.native());
  load.set_manifest_text(plugin.text);
  load.set_listed_only(options.listed_only);
  for (const std::string& extension : offer.extensions) load.add_extensions(extension);
  load.set_minor_min(offer.minor_min);
  load.set_minor_max(offer.minor_max);
  Outgoing outgoing(worker->regions_);
  EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, worker->call(request, outgoing));
  if (answer.code() != EPH_OK) {
    const bool is_short = answer.code() == EPH_OUT_OF_MEMORY;
    return Status(is_short ? StatusCode::kOutOfMemory : StatusCode::kEpFail,
                  printable(answer.message()));
  }
  worker->loaded_ = std::move(*answer.mutable_loaded());
  return worker;
}

CallOptions Worker::options_for(uint32_t call) const {
  CallOptions options;
  if (is_probe(call)) {
    options.limit = options_.calls.probe;
    options.limit_name = "session.isolation.probe_limit";
  } else if (call == kCall<&eph_computation_api::compute>) {
    options.limit = options_.calls.run;
    options.limit_name = "session.isolation.run_limit";
  } else {
    options.limit = options_.calls.compile;
    options.limit_name = "session.isolation.compile_limit";
  }
  if (!options_.calls.name.empty()) options.limit_name = options_.calls.name;
  return options;
}

void Worker::log(const wire::Callback& line, const HostTables* host) const {
  if (host != nullptr) {
    host->host->api->log(host->host, line.severity(), text_of(line.text()));
    return;
  }
  current_log().write(level_of(line.severity()), name_, line.text());
}

bool Worker::take_note(const wire::Callback& note, const HostTables* host) const {
  if (note.asked() == wire::HOST_LOG) {
    log(note, host);
    return true;
  }
  if (note.asked() != wire::PROGRESS_REPORT) return false;
  if (host != nullptr && host->progress != nullptr) {
    host->progress->report(host->host, note.fraction(), text_of(note.text()));
  }
  return true;
}

Status Worker::take_posted(const Message& message, const HostTables* host) const {
  EPHOST_ASSIGN_OR_RETURN(const auto posted, read_message<wire::Callback>(message, "a post"));
  if (take_note(posted, host)) return {};
  return worker_fault(formatted("a post of {}", static_cast<int>(posted.asked())));
}

namespace {

// What was removed meanwhile holds no constants.
void release_constants(const wire::Callback& callback, const Outgoing& outgoing,
                       const HostTables& host) {
  const wire::Shared& place = callback.shared();
  const SharedRegionPtr region = outgoing.find(place.region());
  if (region == nullptr || place.offset() > region->bytes.size() ||
      callback.size() > region->bytes.size() - place.offset()) {
    return;
  }
  host.constants->release(host.host, region->bytes.data() + place.offset(), callback.size());
}

// What is asked of eph_context_writer.
int32_t call_writer(const wire::Callback& callback, eph_context_writer* writer, wire::Answer& out,
                    eph_error& error) {
  if (callback.asked() == wire::WRITER_BEGIN_PAYLOAD) {
    uint32_t payload = 0;
    const int32_t code =
        writer->api->begin_payload(writer, text_of(callback.text()), &payload, &error);
    out.set_number(payload);
    return code;
  }
  if (callback.asked() == wire::WRITER_WRITE) {
    return writer->api->write(writer, callback.payload(), callback.data().data(),
                              callback.data().size(), &error);
  }
  Storage storage;
  const eph_context_node node = read(callback.context_node(), storage);
  return writer->api->add_node(writer, &node, &error);
}

}  // namespace

Status Worker::answer_callback(const wire::Callback& callback, const Outgoing& outgoing,
                               const Subjects& subjects, RemoteRun* run, wire::Answer& out) const {
  const HostTables* const host = subjects.host;
  const auto missing = [&] {
    return worker_fault(formatted("asks {} in a call that has nothing to do with it",
                                  static_cast<int>(callback.asked())));
  };
  ErrorText error;
  int32_t code = EPH_OK;
  switch (callback.asked()) {
    case wire::HOST_LOG:
    case wire::PROGRESS_REPORT:
      (void)take_note(callback, host);
      break;
    case wire::PROGRESS_IS_CANCELLED:
      if (host == nullptr || host->progress == nullptr) break;
      code = host->progress->is_cancelled(host->host);
      break;
    case wire::CONSTANTS_RELEASE:
      if (host == nullptr || host->constants == nullptr) break;
      release_constants(callback, outgoing, *host);
      break;
    case wire::READ_GRAPH:
    case wire::READ_CONSTANT:
    case wire::GRAPH_GET_ONNX:
      if (subjects.graphs == nullptr) return missing();
      return subjects.graphs->answer(callback, out);
    case wire::CLAIMS_HAS_KERNEL:
      if (subjects.claims == nullptr) return missing();
      for (uint32_t i = 0; i < subjects.node_count; ++i) {
        const bool has = subjects.claims->api->has_kernel(subjects.claims, i) != 0;
        out.mutable_text()->push_back(has ? 1 : 0);
      }
      break;
    case wire::WRITER_BEGIN_PAYLOAD:
    case wire::WRITER_WRITE:
    case wire::WRITER_ADD_NODE:
      if (subjects.writer == nullptr) return missing();
      code = call_writer(callback, subjects.writer, out, error);
      break;
    default:
      if (run == nullptr) return missing();
      return run->answer(callback, out);
  }
  set_code(code, error, out);
  return {};
}

Result<Message> Worker::on_callback(const Message& message, Outgoing& outgoing,
                                    const Subjects& subjects, RemoteRun* run) const {
  EPHOST_ASSIGN_OR_RETURN(const auto callback, read_message<wire::Callback>(message, "a callback"));
  wire::Answer answer;
  EPHOST_RETURN_IF_ERROR(answer_callback(callback, outgoing, subjects, run, answer));
  Result<Message> finished = outgoing.finish(answer);
  if (finished.ok()) return finished;
  // What the host is short of is not the worker's doing.
  wire::Answer failed;
  failed.set_code(static_cast<int32_t>(finished.status().code()));
  failed.set_has_message(true);
  failed.set_message(finished.status().message());
  return outgoing.finish(failed);
}

Result<wire::Answer> Worker::parse_answer(HostChannel& channel, const Message& message) {
  Result<wire::Answer> answer = read_message<wire::Answer>(message, "an answer");
  if (!answer.ok()) return channel.reject(answer.status().message());
  return answer;
}

Result<wire::Answer> Worker::call(wire::Request& request, Outgoing& outgoing,
                                  const Subjects& subjects) {
  EPHOST_ASSIGN_OR_RETURN(const ChannelLease channel, process_->channel());
  return call_by(*channel, request, outgoing, subjects);
}

Result<wire::Answer> Worker::call_by(HostChannel& channel, wire::Request& request,
                                     Outgoing& outgoing, const Subjects& subjects) {
  const auto callback = [&](Message message) {
    return on_callback(message, outgoing, subjects, nullptr);
  };
  const auto is_cancelled = [&] {
    const HostTables* const host = subjects.host;
    return host != nullptr && host->progress != nullptr &&
           host->progress->is_cancelled(host->host) != 0;
  };
  CallOptions options = options_for(request.call());
  const auto posted = [&](Message message) { return take_posted(message, subjects.host); };
  options.on_callback = callback;
  options.on_posted = posted;
  options.is_cancelled = is_cancelled;
  if (subjects.graphs != nullptr) EPHOST_RETURN_IF_ERROR(subjects.graphs->finish(request));
  EPHOST_ASSIGN_OR_RETURN(Message message, outgoing.finish(request));
  EPHOST_ASSIGN_OR_RETURN(const Message answer, channel.call(std::move(message), options));
  outgoing.confirm();
  return parse_answer(channel, answer);
}

Result<int32_t> Worker::compute(eph_run& run, const RunFacts& facts, void* state,
                                const HostTables& host, eph_error* error) {
  EPHOST_ASSIGN_OR_RETURN(const ChannelLease channel, process_->channel());
  Outgoing outgoing(regions_);
  RemoteRun remote(run, facts, state, *channel, outgoing, options_.limits.memory);
  EPHOST_RETURN_IF_ERROR(remote.prepare());
  const Subjects subjects = {.host = &host};
  const auto callback = [&](Message message) {
    return on_callback(message, outgoing, subjects, &remote);
  };
  const auto is_cancelled = [&] { return run.api->is_cancelled(&run) != 0; };
  CallOptions options = options_for(kCall<&eph_computation_api::compute>);
  const auto posted = [&](Message message) { return take_posted(message, subjects.host); };
  options.on_callback = callback;
  options.on_posted = posted;
  options.is_cancelled = is_cancelled;
  if (!remote.is_hot()) {
    wire::Request request;
    remote.write_request(request);
    EPHOST_ASSIGN_OR_RETURN(Message message, outgoing.finish(request));
    EPHOST_ASSIGN_OR_RETURN(const Message got, channel->call(std::move(message), options));
    outgoing.confirm();
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, parse_answer(*channel, got));
    if (answer.code() == EPH_OK) remote.finish();
    if (answer.has_message()) error->api->set_message(error, text_of(answer.message()));
    return answer.code();
  }
  const std::span<std::byte> hot = channel->hot_area();
  remote.write_plain(hot);
  EPHOST_ASSIGN_OR_RETURN(const uint32_t size,
                          channel->call_hot(static_cast<uint32_t>(remote.plain_size()), options));
  outgoing.confirm();
  PlainAnswer answer;
  if (size < sizeof(answer)) return channel->reject("an answer of compute that is too short");
  std::memcpy(&answer, hot.data(), sizeof(answer));
  if (answer.message_size > size - sizeof(answer)) {
    return channel->reject("an answer of compute with a message that is longer than itself");
  }
  if (answer.code == EPH_OK) remote.finish();
  if (answer.has_message != 0) {
    std::string text(reinterpret_cast<const char*>(hot.data()) + sizeof(answer),
                     static_cast<size_t>(answer.message_size));
    error->api->set_message(error, text_of(text));
  }
  return answer.code;
}

}  // namespace ephost::worker
