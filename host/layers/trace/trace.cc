#include "host/layers/trace/trace.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/layers/decorate/decorator.h"
#include "host/layers/trace/arguments.h"

namespace ephost::layers {
namespace {

using Clock = std::chrono::steady_clock;

// How many traced calls the thread is in.
thread_local int depth = 0;

uint32_t thread_number() {
  static std::atomic<uint32_t> next{1};
  thread_local const uint32_t number = next.fetch_add(1);
  return number;
}

std::string_view code_name(int32_t code) { return status_code_name(static_cast<StatusCode>(code)); }

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

enum class Direction { kToPlugin, kToHost };

// What all lines of one call have in common.
struct TracedCall {
  Direction direction;
  std::string_view provider;
  std::string_view computation;  // empty: the provider itself
  std::string_view table;
  std::string_view slot;
};

class Writer {
 public:
  explicit Writer(TraceOptions options) : options_(std::move(options)) {}

  [[nodiscard]] bool shows_graph_reads() const { return options_.graph_reads; }

  // `arguments` is a JSON object.
  void begin(const TracedCall& subject, const std::string& arguments) {
    if (options_.format == TraceFormat::kJson) {
      JsonText line = common(subject, "begin");
      write(line.add("arguments", arguments).text());
    } else {
      write(formatted("{} {} {} {}", head(), mark(subject, "->", "<-"), name(subject), arguments));
    }
  }
  // How a call went.
  struct Outcome {
    std::string result;     // a code's name or a number; empty for a slot that returns nothing
    std::string message;    // of a failure
    std::string arguments;  // a JSON object, as before the call
    std::string results;    // likewise, as after it
  };
  void end(const TracedCall& subject, const Outcome& outcome, Clock::time_point start) {
    const Clock::duration duration = Clock::now() - start;
    if (options_.profiler != nullptr) add_event(subject, outcome, start);
    const std::string& result = outcome.result;
    const std::string text = outcome.message.empty() ? "" : json_text(outcome.message);
    if (options_.format == TraceFormat::kJson) {
      JsonText line = common(subject, "end");
      if (!result.empty()) line.add("result", json_text(result));
      line.add("message", text).add("seconds", json_number(seconds(duration)));
      write(line.add("results", outcome.results).text());
    } else {
      write(formatted("{} {} {} = {} {:.6f} s {}{}{}", head(), mark(subject, "=>", "<="),
                      name(subject), result.empty() ? "done" : result, seconds(duration),
                      outcome.results, text.empty() ? "" : " ", text));
    }
  }

 private:
  void add_event(const TracedCall& subject, const Outcome& outcome, Clock::time_point start) const {
    options_.profiler->add("abi", std::string(subject.slot), start,
                           {{"provider", std::string(subject.provider)},
                            {"computation", std::string(subject.computation)},
                            {"table", std::string(subject.table)},
                            {"arguments", outcome.arguments},
                            {"result", outcome.result},
                            {"message", outcome.message},
                            {"results", outcome.results}});
  }
  [[nodiscard]] std::string head() const {
    return formatted("{:12.6f} [{}]{}", seconds(Clock::now() - start_), thread_number(),
                     std::string(static_cast<size_t>(2 * depth), ' '));
  }
  static std::string_view mark(const TracedCall& subject, std::string_view to_plugin,
                               std::string_view to_host) {
    return subject.direction == Direction::kToPlugin ? to_plugin : to_host;
  }
  static std::string name(const TracedCall& subject) {
    return formatted("{}{}{}{} {}", subject.provider, subject.computation.empty() ? "" : " \"",
                     printable_line(subject.computation), subject.computation.empty() ? "" : "\"",
                     subject.slot);
  }
  [[nodiscard]] JsonText common(const TracedCall& subject, std::string_view event) const {
    JsonText line('{');
    line.add("event", json_text(event))
        .add("time", json_number(seconds(Clock::now() - start_)))
        .add("thread", json_number(thread_number()))
        .add("depth", json_number(depth))
        .add("to", subject.direction == Direction::kToPlugin ? "\"plugin\"" : "\"host\"")
        .add("provider", json_text(subject.provider));
    if (!subject.computation.empty()) line.add("computation", json_text(subject.computation));
    return line.add("table", json_text(subject.table)).add("slot", json_text(subject.slot));
  }
  void write(std::string line) {
    line += '\n';
    const std::lock_guard lock(mutex_);
    if (has_failed_) return;
    try {
      options_.write(line);
    } catch (...) {
      has_failed_ = true;
    }
  }

  const TraceOptions options_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  bool has_failed_ = false;
};

// The last argument of a slot that can fail.
template <class... A>
const ErrorObject* error_of(A... arguments) {
  const ErrorObject* found = nullptr;
  [[maybe_unused]] const auto look = [&](auto argument) {
    if constexpr (std::is_same_v<decltype(argument), ErrorObject*>) found = argument;
  };
  (look(arguments), ...);
  return found;
}

// The host's own object of an argument that is the layer's.
template <class T>
T own(T argument) {
  return argument;
}
template <class L, class Handle>
const Handle* own(HostObject<L, Handle>* object) {
  return object->inner();
}

class Tracer {
 public:
  struct ProviderState {
    explicit ProviderState(const Call<Tracer>&) {}
  };
  using ComputationState = ProviderState;
  using DeviceState = ProviderState;
  struct ObjectState {};
  template <class T>
  using Lent = LentOnStack<T>;
  using Error = ErrorObject;

  explicit Tracer(std::shared_ptr<Writer> writer, std::string_view provider)
      : writer_(std::move(writer)), provider_(provider) {}

  template <auto Member, class Next, class... A>
  auto to_plugin(const Call<Tracer>& call, Next next, A... arguments) {
    return traced<Member>(subject<Member>(Direction::kToPlugin, call.computation), next,
                          arguments...);
  }

  template <auto Member, class Object, class Next, class... A>
  auto from_plugin(const Object&, Next next, A... arguments) noexcept {
    if constexpr (std::is_same_v<TableOf<Member>, eph_graph_api>) {
      if (!writer_->shows_graph_reads()) return next(arguments...);
    }
    return traced<Member>(subject<Member>(Direction::kToHost, nullptr), next, arguments...);
  }

 private:
  template <auto Member>
  TracedCall subject(Direction direction, const ComputationObject<Tracer>* computation) const {
    return {direction, provider_, computation == nullptr ? std::string_view() : computation->name(),
            TableSlots<TableOf<Member>>::kTable, kSlot<Member>.name};
  }

  template <auto Member, class Next, class... A>
  auto traced(const TracedCall& subject, Next next, A... arguments) {
    Writer::Outcome outcome;
    outcome.arguments = text<Member>(Moment::kBefore, arguments...);
    writer_->begin(subject, outcome.arguments);
    const auto start = Clock::now();
    const auto called = [&] {
      const Nesting nesting;
      return next(arguments...);
    };
    const auto end = [&] {
      const ErrorObject* const error = error_of(arguments...);
      if (error != nullptr) outcome.message = error->message();
      outcome.results = text<Member>(Moment::kAfter, arguments...);
      writer_->end(subject, outcome, start);
    };
    try {
      if constexpr (std::is_void_v<decltype(next(arguments...))>) {
        called();
        end();
      } else {
        const auto result = called();
        outcome.result = shown<Member>(result);
        end();
        return result;
      }
    } catch (...) {  // of the plugin: the host reports it
      outcome.result = "exception";
      writer_->end(subject, outcome, start);
      throw;
    }
  }
  template <auto Member, class... A>
  static std::string text(Moment moment, A... arguments) {
    ArgumentText shown(moment);
    if constexpr (kIsSame<Member, &eph_device_api::copy>) {
      shown.add_copies(arguments...);
    } else if constexpr (kIsSame<Member, &eph_device_api::enqueue_copies>) {
      shown.add_enqueued(arguments...);
    } else {
      shown.add_all(kSlot<Member>.parameters, own(arguments)...);
    }
    return shown.text();
  }
  // Slots that can fail return a code; the others a number or an address.
  template <auto Member, class Result>
  static std::string shown(Result result) {
    if constexpr (std::is_pointer_v<Result>) {
      return result == nullptr ? "null" : "set";
    } else if constexpr (std::is_same_v<Result, int32_t> &&
                         !kIsSame<Member, &eph_run_api::is_cancelled> &&
                         !kIsSame<Member, &eph_progress_api::is_cancelled> &&
                         !kIsSame<Member, &eph_claims_api::has_kernel>) {
      return std::string(code_name(result));
    } else {
      return formatted("{}", result);
    }
  }

  struct Nesting {
    Nesting() { ++depth; }
    ~Nesting() { --depth; }
  };

  const std::shared_ptr<Writer> writer_;
  const std::string provider_;
};

struct TracedTable {
  explicit TracedTable(std::shared_ptr<Writer> writer, const plugin::LoadedPlugin& plugin)
      : tracer(std::move(writer), plugin.manifest.name),
        table(tracer, plugin.provider, plugin.provider_self) {}

  Tracer tracer;
  ProviderTable<Tracer> table;
};

class TraceLayer : public Layer {
 public:
  explicit TraceLayer(TraceOptions options)
      : writer_(std::make_shared<Writer>(std::move(options))) {}

  [[nodiscard]] std::string_view name() const override { return "trace"; }
  [[nodiscard]] Result<std::shared_ptr<const eph_provider_api>> decorate(
      const plugin::LoadedPlugin& plugin) override {
    auto traced = std::make_shared<TracedTable>(writer_, plugin);
    return std::shared_ptr<const eph_provider_api>(traced, &traced->table);
  }

 private:
  std::shared_ptr<Writer> writer_;
};

}  // namespace

std::shared_ptr<Layer> make_trace(TraceOptions options) {
  return std::make_shared<TraceLayer>(std::move(options));
}

}  // namespace ephost::layers
