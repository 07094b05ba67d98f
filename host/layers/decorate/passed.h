// Translation of the arguments that the host passes to a plugin behind a layer: handles are
// replaced by the plugin's own, objects of the host by the layer's, and the rest stays.
#pragma once

#include <type_traits>
#include <utility>

#include "host/layers/decorate/host_object.h"

namespace ephost::layers {

template <class L>
class ProviderObject;
template <class L>
class ComputationObject;
template <class L>
class DeviceObject;

// Lives as long as the call.
template <class L, class T>
class Passed {
 public:
  Passed(L&, T value) : value_(value) {}
  [[nodiscard]] T get() const { return value_; }

 private:
  T value_;
};

template <class L>
class Passed<L, eph_error*> {
 public:
  Passed(L& layer, eph_error* error) : error_(layer, error) {}
  [[nodiscard]] ErrorObject* get() { return error_.get(); }

 private:
  typename L::template Lent<typename L::Error> error_;
};

template <class L>
class Passed<L, eph_provider*> {
 public:
  Passed(L&, eph_provider* provider) : provider_(provider) {}
  [[nodiscard]] eph_provider* get() const { return ProviderObject<L>::of(provider_).inner(); }

 private:
  eph_provider* provider_;
};

template <class L>
class Passed<L, eph_computation*> {
 public:
  Passed(L&, eph_computation* computation) : computation_(computation) {}
  [[nodiscard]] eph_computation* get() const {
    return ComputationObject<L>::of(computation_).inner();
  }

 private:
  eph_computation* computation_;
};

// A handle of the host: its first field is a table of functions that the plugin calls.
template <class Handle>
concept HostHandle =
    plugin::HostObjectTables::kHas<std::remove_cvref_t<decltype(*std::declval<Handle&>().api)>>;

template <class L, HostHandle Handle>
class Passed<L, Handle*> {
 public:
  Passed(L& layer, Handle* inner) : object_(layer, layer, inner) {}
  [[nodiscard]] auto* get() { return object_.get(); }

 private:
  typename L::template Lent<HostObject<L, std::remove_const_t<Handle>>> object_;
};

}  // namespace ephost::layers
