// What becomes of an argument on its way from the host to a plugin behind a layer: handles of the
// plugin are replaced by its own, objects of the host by the layer's, and the rest stays.
#pragma once

#include "host/layers/decorate/host_object.h"

namespace ephost::layers {

template <class L>
class ProviderObject;
template <class L>
class ComputationObject;

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

template <class L, class Handle>
class PassedObject {
 public:
  PassedObject(L& layer, const Handle* inner) : object_(layer, layer, inner) {}
  [[nodiscard]] HostObject<L, Handle>* get() { return object_.get(); }

 private:
  typename L::template Lent<HostObject<L, Handle>> object_;
};

#define EPHOST_PASS_OBJECT(type)                                               \
  template <class L>                                                           \
  class Passed<L, type*> : public PassedObject<L, std::remove_const_t<type>> { \
    using PassedObject<L, std::remove_const_t<type>>::PassedObject;            \
  };
EPHOST_PASS_OBJECT(const eph_host)
EPHOST_PASS_OBJECT(const eph_graph)
EPHOST_PASS_OBJECT(eph_claims)
EPHOST_PASS_OBJECT(eph_run)
EPHOST_PASS_OBJECT(eph_context_writer)
EPHOST_PASS_OBJECT(eph_device_list)
EPHOST_PASS_OBJECT(eph_name_list)
EPHOST_PASS_OBJECT(eph_event_list)
EPHOST_PASS_OBJECT(eph_shape_wishes)
#undef EPHOST_PASS_OBJECT

}  // namespace ephost::layers
