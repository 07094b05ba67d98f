// Plain values and functions that the options of a session are made of.
#pragma once

#include <ephost/status.h>
#include <ephost/types/function.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ephost {

using OptionList = std::vector<std::pair<std::string, std::string>>;

// The provider that every session has as its last one, unless it was requested at another place or
// all nodes of the model are compiled already.
inline constexpr std::string_view kCpuProvider = "CPUExecutionProvider";

struct ProviderRequest {
  std::string name;           // provider name or short name
  std::string version_range;  // e.g. ">=1.2, <2"; empty: any
  OptionList options;
  // The devices that the provider is to use, in this order: each is the id of an EpDevice, or a
  // type ("npu": all of them), or a type and a number from 0 ("gpu:1"). Virtual devices are only
  // found by their id. Creating a session fails with ENGINE_ERROR if one is not there. Empty: all
  // devices that are not virtual.
  std::vector<std::string> devices;
};

// The content of a binary of the context cache. `owner` keeps the bytes alive as long as it is
// held; without an owner they need only last for the call, and are copied. Bytes that start at a
// multiple of 64 and have an owner are used where they lie.
struct EpContextData {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};
using EpContextDataReadFunction = Function<Result<EpContextData>(std::string_view file_name)>;

// How far a provider has come with what it is doing: `fraction` of 0 to 1. The provider "ephost" is
// the host itself: it names each phase that it begins, with a fraction of 0.
using ProgressFunction =
    Function<void(std::string_view provider, double fraction, std::string_view message)>;

enum class GraphOptimizationLevel { kDisableAll, kBasic, kExtended, kAll };
enum class ExecutionMode { kSequential, kParallel };

// A file of a model's external data that is in memory.
struct FileInMemory {
  std::string name;  // as the model gives its location
  // Borrowed: the caller keeps them as long as the session lives.
  std::span<const std::byte> bytes;
};

}  // namespace ephost
