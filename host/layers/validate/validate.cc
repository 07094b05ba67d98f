#include "host/layers/validate/validate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/layers/decorate/decorator.h"
#include "host/layers/validate/guarded_run.h"

namespace ephost::layers {
namespace {

// Outputs are filled with these, the second one to be sure of what the first one shows.
constexpr std::byte kFill{0xA5};
constexpr std::byte kOtherFill{0x5A};

class Validator {
 public:
  struct ProviderState {
    explicit ProviderState(const Call<Validator>&) {}
    bool has_memories = false;  // of its own, where a workspace may lie
  };
  // What the computation has stated.
  struct ComputationState {
    explicit ComputationState(const Call<Validator>&) {}
    GuardedRun::Sizes sizes;
  };

  Validator(ValidateOptions options, std::string_view provider)
      : options_(options), provider_(provider) {}

  template <auto Member, class Next, class... A>
  auto to_plugin(const Call<Validator>& call, Next next, A... arguments) {
    if constexpr (kIsSame<Member, &eph_computation_api::compute>) {
      return compute(call, next, arguments...);
    } else if constexpr (std::is_same_v<decltype(next(arguments...)), int32_t>) {
      const int32_t code = next(arguments...);
      if constexpr (kIsSame<Member, &eph_computation_api::describe>) {
        if (code == EPH_OK) note(call, arguments...);
      }
      return checked<Member>(call, code, error_of(arguments...));
    } else if constexpr (kIsSame<Member, &eph_provider_api::get_extension>) {
      const void* const found = next(arguments...);
      const eph_string id = first_of(arguments...);
      const bool has_memories = std::string_view(id.data, id.size) == EPH_EXT_DEVICE_MEMORY;
      if (found != nullptr && has_memories) call.provider->state().has_memories = true;
      return found;
    } else {
      return next(arguments...);
    }
  }

  template <auto Member, class Object, class Next, class... A>
  auto from_plugin(const Object&, Next next, A... arguments) noexcept {
    return next(arguments...);
  }

 private:
  static void note(const Call<Validator>& call, const eph_computation_info* info, ErrorObject*) {
    const auto known = plugin::adopt<eph_computation_info>(info, {});
    if (!known.ok()) return;
    GuardedRun::Sizes& sizes = call.computation->state().sizes;
    if (!call.provider->state().has_memories) sizes.workspace_bytes = known->workspace_bytes;
    const uint64_t asked = known->host_alignment;
    const bool is_sound = asked != 0 && (asked & (asked - 1)) == 0 && asked <= uint64_t{2} << 20;
    if (is_sound) sizes.alignment = std::max<uint64_t>(sizes.alignment, asked);
  }
  template <class First>
  static First first_of(First first) {
    return first;
  }
  template <class... A>
  static ErrorObject* error_of(A... arguments) {
    ErrorObject* found = nullptr;
    [[maybe_unused]] const auto look = [&](auto argument) {
      if constexpr (std::is_same_v<decltype(argument), ErrorObject*>) found = argument;
    };
    (look(arguments), ...);
    return found;
  }

  // The code that the host gets.
  int32_t fail(const Call<Validator>& call, std::string_view slot, ErrorObject* error,
               const std::vector<RunFault>& faults) const {
    std::string text;
    for (const RunFault& fault : faults) {
      const std::string subject =
          call.computation == nullptr ? "" : " of " + quote(call.computation->name());
      const std::string line = formatted("validation: {} of {}{} {} (rule {}); {}", slot, provider_,
                                         subject, fault.what, fault.rule, fault.advice);
      log_error(line);
      text += text.empty() ? line : "; " + line;
    }
    if (error != nullptr) error->api->set_message(error, {text.data(), text.size()});
    return EPH_EP_FAIL;
  }

  template <auto Member>
  int32_t checked(const Call<Validator>& call, int32_t code, ErrorObject* error) const {
    if (error == nullptr) return code;
    if (code != EPH_OK && !error->has_message()) {
      return fail(call, kSlot<Member>.name, error,
                  {{18, formatted("failed with code {} and gave no message", code),
                    "call set_message before it returns a code"}});
    }
    if (code == EPH_OK && error->has_message()) {
      return fail(call, kSlot<Member>.name, error,
                  {{18, formatted("succeeded and gave the message {}", quote(error->message())),
                    "return a code, or write to the log"}});
    }
    return code;
  }

  template <class Next>
  int32_t compute(const Call<Validator>& call, Next next, void* state,
                  HostObject<Validator, eph_run>* run, ErrorObject* error) {
    const GuardedRun::Sizes& sizes = call.computation->state().sizes;
    GuardedRun guarded(run->inner(), sizes, options_.guard, kFill);
    const int32_t code = next(state, static_cast<eph_run*>(&guarded), error);
    std::vector<RunFault> faults = guarded.faults(code == EPH_OK);
    if (code == EPH_OK && faults.empty()) add_untouched(call, next, state, *run, guarded, faults);
    if (!faults.empty()) return fail(call, "compute", error, faults);
    guarded.finish();
    return checked<&eph_computation_api::compute>(call, code, error);
  }

  // An element that looks untouched may just have these bytes, so another run with another pattern
  // has the last word.
  template <class Next>
  void add_untouched(const Call<Validator>& call, Next next, void* state,
                     const HostObject<Validator, eph_run>& run, const GuardedRun& guarded,
                     std::vector<RunFault>& faults) const {
    const std::vector<GuardedRun::Untouched> first = guarded.untouched();
    if (first.empty()) return;
    IgnoredError ignored;
    ErrorObject error(&ignored);
    GuardedRun again(run.inner(), call.computation->state().sizes, options_.guard, kOtherFill);
    if (next(state, static_cast<eph_run*>(&again), &error) != EPH_OK) return;
    for (const GuardedRun::Untouched& one : again.untouched()) {
      if (std::ranges::find(first, one) == first.end()) continue;
      faults.push_back({25,
                        formatted("succeeded and left output {} unwritten from element {} on",
                                  one.output, one.element),
                        "write every element of each output, or fail"});
    }
  }

  struct IgnoredError : eph_error {
    IgnoredError() : eph_error{&kApi} {}
    static constexpr eph_error_api kApi = {sizeof(eph_error_api),
                                           [](eph_error*, eph_string) noexcept {}};
  };

  const ValidateOptions options_;
  const std::string provider_;
};

struct ValidatedTable {
  ValidatedTable(ValidateOptions options, const plugin::LoadedPlugin& plugin)
      : validator(options, plugin.manifest.provider),
        table(validator, plugin.provider, plugin.provider_self) {}

  Validator validator;
  ProviderTable<Validator> table;
};

class ValidateLayer : public Layer {
 public:
  explicit ValidateLayer(ValidateOptions options) : options_(options) {}

  [[nodiscard]] std::string_view name() const override { return "validate"; }
  [[nodiscard]] std::shared_ptr<const eph_provider_api> decorate(
      const plugin::LoadedPlugin& plugin) override {
    auto validated = std::make_shared<ValidatedTable>(options_, plugin);
    return {validated, &validated->table};
  }

 private:
  const ValidateOptions options_;
};

}  // namespace

std::shared_ptr<Layer> make_validate(ValidateOptions options) {
  return std::make_shared<ValidateLayer>(options);
}

}  // namespace ephost::layers
