// Function: any callable with a signature, or nothing. As std::function, without the time that
// compiling <functional> takes every program that includes the API.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace ephost {

namespace detail {

// What a Function calls, of any signature.
struct Callable {
  Callable() = default;
  Callable(const Callable&) = delete;
  Callable& operator=(const Callable&) = delete;
  virtual ~Callable() = default;
};

}  // namespace detail

template <class Signature>
class Function;

// Cheap to copy; copies call the same object.
template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function() = default;
  Function(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  // An empty std::function and a null pointer to a function make an empty one.
  template <class F>
  requires(!std::is_same_v<F, Function> && std::is_invocable_r_v<R, F&, Args...>)
      Function(F function) {  // NOLINT(google-explicit-constructor)
    if (is_empty(function)) return;
    callable_ = std::make_shared<Holder<F>>(std::move(function));
  }

  [[nodiscard]] explicit operator bool() const { return context() != nullptr; }
  [[nodiscard]] friend bool operator==(const Function& function, std::nullptr_t) {
    return function.context() == nullptr;
  }
  R operator()(Args... args) const {
    assert(context() != nullptr && "an empty Function was called");
    return call(context(), std::forward<Args>(args)...);
  }

  // As C takes functions: `call(context(), args...)` does the same, as long as a copy of this
  // object lives. Null if it is empty.
  [[nodiscard]] void* context() const { return callable_.get(); }
  static R call(void* context, Args... args) {
    return static_cast<Typed*>(static_cast<detail::Callable*>(context))
        ->call(std::forward<Args>(args)...);
  }

 private:
  struct Typed : detail::Callable {
    virtual R call(Args... args) = 0;
  };
  template <class F>
  struct Holder final : Typed {
    explicit Holder(F given) : function(std::move(given)) {}
    R call(Args... args) override { return static_cast<R>(function(std::forward<Args>(args)...)); }

    F function;
  };

  template <class F>
  static bool is_empty(const F& function) {
    if constexpr (std::is_pointer_v<F>) return function == nullptr;
    if constexpr (requires { function.operator bool(); }) return !function;
    return false;
  }

  std::shared_ptr<detail::Callable> callable_;
};

}  // namespace ephost
