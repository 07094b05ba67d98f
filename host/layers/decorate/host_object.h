// Objects of the host as a plugin behind a layer sees them: each has the content of the host's own
// and a table whose functions tell the layer before they call the host's.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "host/plugin/slots.h"

namespace ephost::layers {

using plugin::for_each_slot;
using plugin::kIsSame;
using plugin::kSlot;
using plugin::TableOf;
using plugin::TableSlots;

// The table of an error whose messages are ignored.
inline constexpr eph_error_api kIgnoresMessages = {sizeof(eph_error_api),
                                                   [](eph_error*, eph_string) noexcept {}};

// Passes messages on and keeps the last one.
class ErrorObject : public eph_error {
 public:
  explicit ErrorObject(eph_error* inner) : eph_error{&kApi}, inner_(inner) {}
  ErrorObject(const ErrorObject&) = delete;
  ErrorObject& operator=(const ErrorObject&) = delete;
  virtual ~ErrorObject() = default;

  [[nodiscard]] bool has_message() const { return has_message_; }
  // Empty if memory ran out when it was set.
  [[nodiscard]] const std::string& message() const { return message_; }

 protected:
  // Whether a message may be set now; a layer may see to it.
  [[nodiscard]] virtual bool takes_messages() noexcept { return true; }

 private:
  static void set_message(eph_error* error, eph_string message) noexcept;
  static constexpr eph_error_api kApi = {sizeof(eph_error_api), &ErrorObject::set_message};

  eph_error* const inner_;
  bool has_message_ = false;
  std::string message_;
};

// An object of the host as the plugin gets it, for the time of a call: on the stack. A layer that
// keeps it for longer has another `Lent`.
template <class T>
class LentOnStack {
 public:
  template <class L, class... A>
  explicit LentOnStack(L&, A&&... arguments) : object_(std::forward<A>(arguments)...) {}
  [[nodiscard]] T* get() { return &object_; }
  [[nodiscard]] const T* get() const { return &object_; }

 private:
  T object_;
};

// The functions of a handle of the host, for the layer `L`.
template <class L, class Handle>
class HostObject;

template <class L, auto Member, class Type = decltype(Member)>
struct HostThunk;
template <class L, auto Member, class Table, class R, class Self, class... A>
struct HostThunk<L, Member, R (*Table::*)(Self*, A...) noexcept> {
  static R call(Self* handle, A... arguments) noexcept {
    const auto& object = HostObject<L, std::remove_const_t<Self>>::of(handle);
    const Table& inner = object.template table<Table>();
    const auto next = [&](A... passed) { return (inner.*Member)(object.inner(), passed...); };
    return object.layer().template from_plugin<Member>(object, next, arguments...);
  }
};

template <class L, class Table>
struct HostTable {
  static constexpr Table make() {
    Table table = {};
    table.struct_size = sizeof(table);
    for_each_slot<Table>([&]<auto Member>() { table.*Member = &HostThunk<L, Member>::call; });
    return table;
  }
  static constexpr Table kTable = make();
};

template <class L, class Handle>
class HostObject : public Handle {
 public:
  using Table = std::remove_cvref_t<decltype(*Handle::api)>;

  // Borrows both.
  HostObject(L& layer, const Handle* inner) : Handle(*inner), layer_(layer), inner_(inner) {
    if constexpr (requires { Handle::struct_size; }) Handle::struct_size = sizeof(Handle);
    Handle::api = &HostTable<L, Table>::kTable;
  }
  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;

  [[nodiscard]] static const HostObject& of(const Handle* handle) {
    return static_cast<const HostObject&>(*handle);
  }
  [[nodiscard]] L& layer() const { return layer_; }
  // What the layer keeps of the object.
  [[nodiscard]] typename L::ObjectState& state() const { return state_; }
  [[nodiscard]] Handle* inner() const { return const_cast<Handle*>(inner_); }
  template <class T>
  [[nodiscard]] const T& table() const {
    static_assert(std::is_same_v<T, Table>);
    return *inner_->api;
  }

 private:
  L& layer_;
  const Handle* const inner_;
  [[no_unique_address]] mutable typename L::ObjectState state_;
};

// The host also has tables of optional interfaces, whose functions take the same handle.
template <class L>
class HostObject<L, eph_host> : public eph_host {
 public:
  HostObject(L& layer, const eph_host* inner) : eph_host{&kApi}, layer_(layer), inner_(inner) {
    plugin::HostExtensions::for_each([&]<class T>() {
      std::get<const T*>(extensions_) = static_cast<const T*>(find(TableSlots<T>::kId));
    });
  }
  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;

  [[nodiscard]] static const HostObject& of(const eph_host* handle) {
    return static_cast<const HostObject&>(*handle);
  }
  [[nodiscard]] L& layer() const { return layer_; }
  [[nodiscard]] typename L::ObjectState& state() const { return state_; }
  [[nodiscard]] const eph_host* inner() const { return inner_; }
  template <class T>
  [[nodiscard]] const T& table() const {
    if constexpr (std::is_same_v<T, eph_host_api>) {
      return *inner_->api;
    } else {
      return *std::get<const T*>(extensions_);
    }
  }

 private:
  template <class T>
  using Pointer = const T*;
  const void* find(std::string_view id) const {
    return inner_->api->get_extension(inner_, {id.data(), id.size()});
  }
  // The layer's own table if the host offers the interface and the layer knows it.
  template <class T>
  const void* offer() const {
    return std::get<const T*>(extensions_) == nullptr ? nullptr : &HostTable<L, T>::kTable;
  }
  static const void* get_extension(const eph_host* handle, eph_string id) noexcept {
    const HostObject& object = of(handle);
    const auto next = [&](eph_string asked) -> const void* {
      const void* own = nullptr;
      plugin::HostExtensions::find({asked.data, asked.size},
                                   [&]<class T>() { own = object.template offer<T>(); });
      return own;
    };
    return object.layer_.template from_plugin<&eph_host_api::get_extension>(object, next, id);
  }
  static constexpr eph_host_api kApi = {
      sizeof(eph_host_api), &HostThunk<L, &eph_host_api::log>::call, &HostObject::get_extension};

  L& layer_;
  const eph_host* const inner_;
  [[no_unique_address]] mutable typename L::ObjectState state_;
  plugin::HostExtensions::TupleOf<Pointer> extensions_;
};

}  // namespace ephost::layers
