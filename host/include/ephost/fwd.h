// Forward declarations of the classes of the API, for headers of programs that only refer to them.
#pragma once

namespace ephost {

class Status;
template <class T>
class Result;

struct CompileReport;
struct EnvironmentOptions;
struct MemoryInfo;
struct ModelCompilationOptions;
struct RunOptions;
struct ValueDescription;

inline namespace v1 {

class Environment;
class IoBinding;
class Session;
class SessionOptions;
class Value;
struct NamedValue;
struct SparseTensor;

}  // namespace v1
}  // namespace ephost
