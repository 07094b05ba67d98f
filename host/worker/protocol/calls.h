// The calls of requests: a slot of the plugin's tables, or what no table has; and its arguments.
#pragma once

#include <cstdint>
#include <type_traits>

#include "host/plugin/slots.h"

namespace ephost::worker {

inline constexpr uint32_t kLoad = 0;
inline constexpr uint32_t kInfer = 1;  // the function of an operator that the plugin defines

// A slot by its place in the list of slots.
template <auto Member>
consteval uint32_t number_of_call() {
  constexpr uint32_t kNumbersOfTable = 64;
  uint32_t table = kNumbersOfTable;
  uint32_t found = 0;
  plugin::ProviderTables::for_each([&]<class Table>() {
    uint32_t slot = table;
    plugin::for_each_slot<Table>([&]<auto Other>() {
      if (plugin::kIsSame<Member, Other>) found = slot;
      ++slot;
    });
    table += kNumbersOfTable;
  });
  return found;
}
template <auto Member>
inline constexpr uint32_t kCall = number_of_call<Member>();

// Whether an argument is for what the plugin gives: a place for a result, or a list.
template <class Argument>
inline constexpr bool kIsResult = false;
template <class Result>
inline constexpr bool kIsResult<Result*> =
    !std::is_const_v<Result> && !std::is_void_v<Result> &&
    !std::is_same_v<Result, eph_computation> && !std::is_same_v<Result, eph_error>;

}  // namespace ephost::worker
