// The checks of the layer "validate" around each call, in the form that decorator.h asks for; the
// calls with longer checks are in validator_calls.h. Used inside host/layers/validate only.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/layers/decorate/decorator.h"
#include "host/layers/validate/context_recorder.h"
#include "host/layers/validate/finding.h"
#include "host/layers/validate/known_streams.h"
#include "host/layers/validate/lent/constant_checksums.h"
#include "host/layers/validate/lent/graph_copies.h"
#include "host/layers/validate/lent/loan.h"
#include "host/layers/validate/lent/payload_copies.h"
#include "host/layers/validate/lent/record_copies.h"
#include "host/layers/validate/lifecycle.h"
#include "host/layers/validate/runs/guarded_run.h"
#include "host/layers/validate/runs/reference.h"
#include "host/layers/validate/runs/repeated_runs.h"
#include "host/layers/validate/signature.h"
#include "host/layers/validate/validate.h"
#include "host/layers/validate/watchdog.h"
#include "host/manifest/manifest.h"

namespace ephost::layers {

// The threads that may call a function of the host.
template <auto Member>
inline constexpr Callers kCallers =
    kSlot<Member>.threads == plugin::SlotThreads::kAny ? Callers::kAnyThread
                                                       : Callers::kThreadOfTheCall;

// Whether a function of a plugin is marked [owner] of the provider.
template <auto Member>
inline constexpr bool kIsOwned = kSlot<Member>.threads == plugin::SlotThreads::kOwner &&
                                 !std::is_same_v<TableOf<Member>, eph_computation_api>;

class Validator {
 public:
  struct ProviderState {
    explicit ProviderState(const Call<Validator>& call);
    ProviderOrder order;
    // What the graph of a computation says about it.
    struct Made {
      Signature signature;
      ConstantChecksums constants;  // that it may read as long as it lives
      std::shared_ptr<Reference> reference = nullptr;
    };
    // The computations that are being made, by the plugin's own handles. Those that are left after
    // the call have tables that cannot be used.
    std::map<const eph_computation*, Made> made;
    const std::shared_ptr<PayloadCopies> payloads;
  };
  struct ComputationState {
    explicit ComputationState(const Call<Validator>& call);
    GuardedRun::Declared declared;
    Signature signature;
    std::shared_ptr<Reference> reference;  // null: its results are not compared
    ComputationOrder order;
    // Whether runs with inputs of these shapes are still to be repeated; then they are not any
    // more.
    bool is_new(const eph_run& run);
    // Constants that have changed since the last time.
    [[nodiscard]] std::vector<Finding> changed_constants();

   private:
    std::mutex mutex_;
    ConstantChecksums constants_;
    std::vector<std::vector<int64_t>> seen_;
  };
  struct DeviceState {
    explicit DeviceState(const Call<Validator>&) {}
    DeviceOrder order;
  };
  struct ObjectState {
    Loan loan;
    std::unique_ptr<GraphCopies> copies;  // of a graph
    // The bodies of its nodes; end with it.
    std::vector<std::shared_ptr<HostObject<Validator, eph_graph>>> bodies;
  };
  // An error object whose time is over takes no messages.
  class Error : public ErrorObject {
   public:
    using ErrorObject::ErrorObject;
    [[nodiscard]] ObjectState& state() { return state_; }
    // Whether the plugin has set a message, rather than a function of the host that it called.
    [[nodiscard]] bool has_message_of_plugin() const { return has_message_of_plugin_; }

   private:
    [[nodiscard]] bool takes_messages() noexcept override {
      if (!state_.loan.allows("eph_error", "set_message", Callers::kAnyThread)) return false;
      has_message_of_plugin_ = has_message_of_plugin_ || !HostCall::is_running();
      return true;
    }
    ObjectState state_;
    bool has_message_of_plugin_ = false;
  };
  // Goes to quarantine when the call is over.
  template <class T>
  class Lent {
   public:
    template <class... A>
    explicit Lent(Validator& validator, A&&... arguments)
        : validator_(validator), object_(std::make_shared<T>(std::forward<A>(arguments)...)) {}
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    ~Lent() { validator_.take_back(std::move(object_)); }
    [[nodiscard]] T* get() { return object_.get(); }
    [[nodiscard]] const T* get() const { return object_.get(); }

   private:
    Validator& validator_;
    std::shared_ptr<T> object_;
  };

  Validator(ValidateOptions options, MakeReference make_reference,
            const manifest::Manifest& manifest)
      : options_(options),
        make_reference_(std::move(make_reference)),
        is_deterministic_(manifest.deterministic),
        log_(manifest.provider),
        watchdog_(options, log_) {}

  template <auto Member, class Next, class... A>
  auto to_plugin(const Call<Validator>& call, Next next, A... arguments) {
    using Result = decltype(next(arguments...));
    const Subject subject = {kSlot<Member>.name, name_of(call)};
    const PluginCall calling;
    const Watchdog::Call watched(watchdog_, subject);
    (lend(subject, arguments), ...);
    if constexpr (std::is_same_v<Result, int32_t>) {
      std::vector<Finding> found;
      const OwnerCall owner(kIsOwned<Member> ? call.provider : nullptr, subject, found);
      ErrorObject* const error = error_of(arguments...);
      const int32_t code = invoke<Member>(call, subject, found, next, arguments...);
      if (error == nullptr) return code;
      add_mismatch(code, *error, found);
      (add_changed_constants(arguments, found), ...);
      if (found.empty()) return code;
      const std::string text = log_.add_all(subject, found);
      error->api->set_message(error, {text.data(), text.size()});
      if (code == EPH_OK) undo<Member>(call, arguments...);
      return static_cast<int32_t>(EPH_EP_FAIL);
    } else if constexpr (std::is_void_v<Result>) {
      release<Member>(call, subject, next, arguments...);
    } else {
      return next(arguments...);
    }
  }

  template <auto Member, class Object, class Next, class... A>
  auto from_plugin(const Object& object, Next next, A... arguments) noexcept {
    using Result = decltype(next(arguments...));
    using Table = TableOf<Member>;
    if (!object.state().loan.allows(handle_name<Object>(), kSlot<Member>.name, kCallers<Member>)) {
      return refused<Member, Result>();
    }
    if constexpr (kIsSame<Member, &eph_claims_api::claim_fused>) note_claim(arguments...);
    if constexpr (kIsSame<Member, &eph_thread_pool_api::parallel_for>) {
      return run_loop(next, arguments...);
    } else if constexpr (std::is_same_v<Table, eph_graph_api>) {
      const HostCall calling;
      return read_graph<Member>(object, next, arguments...);
    } else {
      const HostCall calling;
      return next(arguments...);
    }
  }

  // After the call that an object was lent for.
  template <class T>
  void take_back(std::shared_ptr<T> object) noexcept {
    const size_t bytes = sizeof(T) + end(object->state());
    keep(std::move(object), bytes);
  }

 private:
  // Around a call of a slot that is [owner] of the provider; null: of another one.
  class OwnerCall {
   public:
    OwnerCall(ProviderObject<Validator>* provider, const Subject& subject,
              std::vector<Finding>& found)
        : provider_(provider) {
      if (provider == nullptr) return;
      add(provider->state().order.begin_owner_call(subject.slot), found);
    }
    OwnerCall(const OwnerCall&) = delete;
    OwnerCall& operator=(const OwnerCall&) = delete;
    ~OwnerCall() {
      if (provider_ != nullptr) provider_->state().order.end_owner_call();
    }

   private:
    ProviderObject<Validator>* const provider_;
  };

  // Lends the arguments of a run; they go to quarantine when it ends, also where an exception
  // passes through.
  class LentRun {
   public:
    // `subject` outlives it.
    LentRun(Validator& validator, const Subject& subject, std::shared_ptr<GuardedRun> run)
        : validator_(validator), subject_(subject), run_(std::move(run)) {
      run_->loan().begin(validator.log_, subject);
    }
    LentRun(const LentRun&) = delete;
    LentRun& operator=(const LentRun&) = delete;
    ~LentRun() { validator_.take_back_run(subject_, std::move(run_)); }

   private:
    Validator& validator_;
    const Subject& subject_;
    std::shared_ptr<GuardedRun> run_;
  };

  // Returns how much memory is kept.
  static size_t end(ObjectState& state) noexcept;
  static void add(std::optional<Finding> finding, std::vector<Finding>& found) {
    if (finding) found.push_back(std::move(*finding));
  }
  static void add_all(std::vector<Finding> findings, std::vector<Finding>& found) {
    std::ranges::move(findings, std::back_inserter(found));
  }
  static std::string name_of(const Call<Validator>& call) {
    return call.computation == nullptr ? std::string() : call.computation->name();
  }
  template <class First, class... A>
  static First first_of(First first, A...) {
    return first;
  }
  template <class... A>
  static ErrorObject* error_of(A... arguments) {
    ErrorObject* found = nullptr;
    [[maybe_unused]] const auto look = [&](auto argument) {
      if constexpr (std::is_convertible_v<decltype(argument), ErrorObject*>) found = argument;
    };
    (look(arguments), ...);
    return found;
  }
  void keep(std::shared_ptr<const void> object, size_t bytes,
            std::function<void()> inspect = {}) noexcept {
    try {
      quarantine_.keep(std::move(object), bytes, std::move(inspect));
    } catch (...) {  // out of memory: it goes at once
    }
  }

  // Before a call: what the plugin borrows in it.
  template <class T>
  void lend(const Subject&, T) {}
  template <class Handle>
  void lend(const Subject& subject, HostObject<Validator, Handle>* object) {
    lend_object(subject, *object);
  }
  void lend(const Subject& subject, ErrorObject* error) {
    static_cast<Error*>(error)->state().loan.begin(log_, subject);
  }
  template <class Handle>
  void lend_object(const Subject& subject, const HostObject<Validator, Handle>& object) {
    object.state().loan.begin(log_, subject);
    if constexpr (std::is_same_v<Handle, eph_graph>) make_copies(subject, object);
  }
  void make_copies(const Subject& subject, const HostObject<Validator, eph_graph>& graph);

  // Calls `use` with an arena for what the plugin is passed in this call.
  template <class Use>
  int32_t with_arena(const Subject& subject, Use use);
  template <auto Member, class Next, class... A>
  int32_t invoke(const Call<Validator>& call, const Subject& subject, std::vector<Finding>& found,
                 Next next, A... arguments);
  template <auto Member, class Next, class... A>
  void release(const Call<Validator>& call, const Subject& subject, Next next, A... arguments);
  // After a call that the plugin takes for a success and the host for a failure: ends what the
  // plugin has begun or made, as the host will not.
  template <auto Member, class... A>
  static void undo(const Call<Validator>& call, A... arguments);
  template <class Made>
  static std::optional<Finding> leftover(int32_t code, Made** made, std::string_view what,
                                         std::string_view out);

  template <class Next>
  int32_t create(const Subject& subject, std::vector<Finding>& found, Next next,
                 const eph_host* host, const eph_provider_config* config,
                 eph_provider** out_provider, ErrorObject* error);
  template <class Next>
  int32_t compile(const Call<Validator>& call, const Subject& subject, std::vector<Finding>& found,
                  Next next, const eph_partition* partitions, uint64_t stride, uint64_t count,
                  eph_computation** out_computations, ErrorObject* error);
  template <class Next>
  int32_t write_context(const Subject& subject, std::vector<Finding>& found, Next next,
                        eph_computation* const* computations, uint64_t count,
                        HostObject<Validator, eph_context_writer>* writer, ErrorObject* error);
  template <class Next>
  int32_t compute(const Call<Validator>& call, const Subject& subject, std::vector<Finding>& found,
                  Next next, void* state, HostObject<Validator, eph_run>* run, ErrorObject* error);
  // Null where results are not compared.
  [[nodiscard]] std::shared_ptr<Reference> make_reference(const eph_partition& partition);
  static void check_run(const Call<Validator>& call, eph_run* host_run, const GuardedRun& run,
                        const GuardedRun::Memory& memory, const RepeatedRuns::Compute& repeat,
                        std::vector<Finding>& found);
  static void note(const Call<Validator>& call, const eph_computation_info* info);
  void note_claim(const eph_fused_claim* claim, const eph_error* error) noexcept;
  void take_back_run(const Subject& subject, std::shared_ptr<GuardedRun> run) noexcept;

  static void add_mismatch(int32_t code, const ErrorObject& error, std::vector<Finding>& found);
  template <class T>
  static void add_changed_constants(T, std::vector<Finding>&) {}
  static void add_changed_constants(const HostObject<Validator, eph_graph>* graph,
                                    std::vector<Finding>& found);
  static void add_changed_constants(HostObject<Validator, eph_graph>* graph,
                                    std::vector<Finding>& found) {
    add_changed_constants(static_cast<const HostObject<Validator, eph_graph>*>(graph), found);
  }

  template <class Object>
  static constexpr std::string_view handle_name();
  template <auto Member, class Result>
  static Result refused();
  template <class Next>
  static void run_loop(Next next, uint64_t total, uint64_t grain, eph_range_function function,
                       void* context);
  template <auto Member, class Next, class... A>
  auto read_graph(const HostObject<Validator, eph_graph>& graph, Next next,
                  A... arguments) noexcept;

  const ValidateOptions options_;
  const MakeReference make_reference_;  // may be empty
  const bool is_deterministic_;
  // Whether some claim has given its constants up: then those of compiled graphs may be gone after
  // the call.
  std::atomic<bool> drops_constants_{false};
  FindingLog log_;
  Watchdog watchdog_;
  KnownStreams streams_;
  Quarantine quarantine_;  // first to be destroyed: what it finds goes to the log
};

}  // namespace ephost::layers
