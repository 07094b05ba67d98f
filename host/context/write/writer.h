// Writes a context model and its binaries. Payloads stream to temporary files while providers write
// them; the model is assembled, encoded and loaded once more; then everything is published
// together, binaries first, the model last. Whatever fails, and whenever the process ends, the
// files under their own names are the old ones or the new ones.
//
// Several models may share the binaries: they are named after the first model, and all the models
// are published together.
//
// Of several processes that write one output the last one stands, complete. A writer that is
// destroyed before `finish` leaves nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/base/cancellation.h"
#include "host/base/files/file_system.h"
#include "host/base/files/operation_files.h"
#include "host/context/folder_lock.h"
#include "host/context/metadata.h"
#include "host/graph/graph.h"
#include "host/onnx_io/export/export.h"

namespace ephost::context {

// Of a model that does not go to a file, the files, if any, go beside `output_path`.
enum class Destination {
  kFile,
  kMemory,    // the model is handed out as bytes
  kFunction,  // it goes to WriteOptions::write_model
};

inline constexpr size_t kModelPieceBytes = size_t{64} << 10;

// What protobuf can hold.
inline constexpr uint64_t kMaxModelBytes = (uint64_t{1} << 31) - 1;

struct WriteOptions {
  // Where the context model goes; its folder and name give those of the binaries. May be empty for
  // a model in memory without files.
  std::filesystem::path output_path;
  Destination destination = Destination::kFile;
  // Payloads inside the nodes instead of in binaries.
  bool embed = false;
  // Takes each binary, complete and by its file name, in place of the file system; payloads stay in
  // memory until then. A failure is `finish`'s own, as it is.
  std::function<Status(const std::string& file_name, std::span<const std::byte> bytes)>
      write_payload;
  // Takes the model in pieces of kModelPieceBytes, the last one shorter, after the files are in
  // place; they are taken back if it fails. A failure is `finish`'s own, as it is.
  std::function<Status(std::span<const std::byte> bytes)> write_model;
  // File name, beside the model, for the initializers of the remaining nodes; empty: embedded.
  std::string external_initializers_file_name;
  // Initializers of fewer bytes are embedded all the same.
  uint64_t initializer_size_threshold = 0;
  // Where large ones start in that file: a power of two, at most 1 MiB.
  uint64_t initializer_alignment = 4096;
  // Decides about each initializer in place of name and threshold; see onnx_io::ExportOptions.
  // Checksums are stated of files that the writer writes, not of those where data stays.
  std::function<Result<onnx_io::Placement>(std::string_view name, const graph::Tensor& tensor)>
      place_initializer;
  // The model file that is compiled, if it is one. Its file name is noted in the nodes.
  std::filesystem::path source_path;
  // What else the operation reads and writes; no output may be among it.
  OperationFiles files;
  // Replace a context model that exists, and its files.
  bool overwrite = false;
  // Replace existing files whatever they hold, but none that is read.
  bool force_overwrite = false;
  LockWait lock_wait;  // where another process publishes into the same folder
  // How large the model may be, embedded payloads included.
  uint64_t max_model_bytes = kMaxModelBytes;
  const FileSystem* file_system = &posix_file_system();  // outlives the writer
  // Until publication begins; nothing stays of what was written then.
  Cancellation cancellation = {};
};

// Which subgraph of which node, counted as graph::for_each_subgraph visits them.
struct SubgraphStep {
  graph::NodeId node = graph::kNoNode;
  uint32_t subgraph = 0;
};

// Nodes of the model that become one EPContext node.
struct WrittenPartition {
  std::vector<SubgraphStep> graph;     // from the main graph inwards; empty: the main graph
  std::vector<graph::NodeId> nodes;    // ascending
  std::vector<graph::ValueId> inputs;  // of the EPContext node, in this order
  std::vector<graph::ValueId> outputs;
  std::string name;      // partition_name; unique in the model
  uint32_t payload = 0;  // from begin_payload
  std::string source;
  std::string sdk_version;
  std::string hardware_architecture;
  std::string notes;
  int64_t max_size = 0;
};

struct WrittenFile {
  std::filesystem::path path;
  ContentChecksum checksum;
};

struct WrittenContext {
  std::vector<WrittenFile> files;  // in the order of publication, the models last
  graph::Blob model;               // Destination::kMemory only: the encoded model
  uint64_t remaining_nodes = 0;    // of the main graphs that are no EPContext nodes
};

// A model to be written, with what becomes of it.
struct ModelToWrite {
  graph::Model model;
  std::vector<WrittenPartition> partitions;
  std::map<std::string, std::string> compatibility;  // the providers' strings, by source
};

// One thread at a time.
class ContextWriter {
 public:
  // What `create` finds wrong with an output, alone.
  [[nodiscard]] static Status check(const WriteOptions& options);

  // Finds what is wrong with the output before anything is compiled. INVALID_ARGUMENT: no output
  // path where one is needed, a folder or device, a name that cannot be stated in a model, or a
  // file that the operation reads; FAIL: an output that exists and may not be replaced, or a folder
  // that cannot be written to; NO_SUCHFILE: no such folder.
  static Result<ContextWriter> create(WriteOptions options);

  ContextWriter(ContextWriter&&) noexcept;
  ContextWriter& operator=(ContextWriter&&) noexcept;
  ~ContextWriter();

  // Adds to WriteOptions::files what is known only after `create`. INVALID_ARGUMENT where an output
  // of this writer is among it.
  [[nodiscard]] Status add_files(const OperationFiles& files);

  // Starts a payload of the provider and returns its number. INVALID_ARGUMENT where its binary
  // would be a file that the operation reads.
  [[nodiscard]] Result<uint32_t> begin_payload(std::string_view ep_short_name);

  // Appends to a payload. FAIL as soon as embedded payloads exceed `max_model_bytes`. After a
  // failure only destruction is meaningful.
  [[nodiscard]] Status append(uint32_t payload, std::span<const std::byte> bytes);

  // Adds a model that refers to this writer's payloads, to be published by `finish` with the
  // writer's own. Errors as of `create`; INVALID_ARGUMENT also where payloads are embedded, or the
  // output lies in another folder, in memory, or where another model's does.
  [[nodiscard]] Status add_model(WriteOptions options, ModelToWrite model);

  // Replaces the partitions in `model`, drops what nothing uses any more, and publishes. The first
  // partition of each payload becomes its primary node. `compatibility` holds the providers'
  // strings by source. The same input gives the same bytes.
  //
  // INVALID_ARGUMENT where names, payload numbers or texts do not fit together, INVALID_GRAPH where
  // a partition is not convex, FAIL where the model is larger than `max_model_bytes`, or where a
  // file exists under the name of a binary or of the external initializers that has other content
  // and is not known to be the replaced output's own. Nothing is published then.
  [[nodiscard]] Result<WrittenContext> finish(
      graph::Model model, std::span<const WrittenPartition> partitions,
      const std::map<std::string, std::string>& compatibility) &&;

 private:
  struct State;
  explicit ContextWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace ephost::context
