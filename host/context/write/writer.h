// Writer of a context model and its binaries. Payloads go to temporary files while providers write
// them; then the model is assembled, encoded and loaded back, and everything is published together,
// binaries first and the model last. Whatever fails, and whenever the process stops, the output is
// either the old one or the new one (../SPECIFICATION.md, "Publication").
//
// Several models may share the binaries, which are then named after the first model; all models are
// published together.
//
// If several processes write the same output, the last one wins, completely. A writer that is
// destroyed before `finish` leaves no file.
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

// Where the model goes. If not to a file, its binaries, if any, still go beside `output_path`.
enum class Destination {
  kFile,
  kMemory,    // WrittenContext::model
  kFunction,  // WriteOptions::write_model
};

inline constexpr size_t kModelPieceBytes = size_t{64} << 10;

// The largest message that protobuf supports.
inline constexpr uint64_t kMaxModelBytes = (uint64_t{1} << 31) - 1;

struct WrittenFile {
  std::filesystem::path path;
  ContentChecksum checksum;
};

struct WriteOptions {
  // Path of the context model; the folder and the names of the binaries follow from it. May be
  // empty for a model in memory without files.
  std::filesystem::path output_path;
  Destination destination = Destination::kFile;
  // Payloads inside the nodes instead of in binaries.
  bool embed = false;
  // Receives each complete binary and its file name instead of the file system; payloads stay in
  // memory until then. `finish` returns its failure unchanged.
  std::function<Status(const std::string& file_name, std::span<const std::byte> bytes)>
      write_payload;
  // Receives the model in pieces of kModelPieceBytes, the last one shorter, once the files are in
  // place. If it fails, the files are restored, and `finish` returns the failure unchanged.
  std::function<Status(std::span<const std::byte> bytes)> write_model;
  // Name of the file, beside the model, for the initializers of the remaining nodes; empty: they
  // are embedded.
  std::string external_initializers_file_name;
  // Initializers with fewer bytes than this are embedded in any case.
  uint64_t initializer_size_threshold = 0;
  // Alignment of large initializers in that file, in bytes: a power of two, at most 1 MiB.
  uint64_t initializer_alignment = 4096;
  // Places each initializer, instead of name and threshold; see onnx_io::ExportOptions. The model
  // has the checksums of the files in which initializers stay, too.
  std::function<Result<onnx_io::Placement>(std::string_view name, const graph::Tensor& tensor)>
      place_initializer;
  // The file of the source model, if it has one. The nodes have its file name.
  std::filesystem::path source_path;
  // Context models of the model with fixed extents that exist already, beside the output, by file
  // name. The model lists them.
  std::map<std::string, ContentChecksum> specializations = {};
  // Other files that the operation reads or writes; no output may be one of them.
  OperationFiles files;
  // Replace an existing context model and its files.
  bool overwrite = false;
  // Files that an earlier attempt of the same operation wrote, which are replaced as long as
  // nothing else has changed them.
  std::vector<WrittenFile> written_before = {};
  // Replace existing files whatever they contain, except those that are read.
  bool force_overwrite = false;
  LockWait lock_wait;  // while another process publishes into the same folder
  // Limit of the size of the model, embedded payloads included.
  uint64_t max_model_bytes = kMaxModelBytes;
  const FileSystem* file_system = &posix_file_system();  // outlives the writer
  // Effective until publication begins; nothing that was written then remains.
  Cancellation cancellation = {};
};

// A subgraph of a node. Subgraphs are counted in the order of graph::for_each_subgraph.
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
  // Constants of its graph that the payload does not contain; each once. They stay in the model.
  std::vector<graph::ValueId> constants;
};

struct WrittenContext {
  std::vector<WrittenFile> files;  // in the order of publication, models last
  graph::Blob model;               // Destination::kMemory only: the encoded model
  uint64_t remaining_nodes = 0;    // nodes of the main graphs that are not EPContext nodes
};

// A model to be written, and the partitions that become EPContext nodes.
struct ModelToWrite {
  graph::Model model;
  std::vector<WrittenPartition> partitions;
  std::map<std::string, std::string> compatibility;  // the providers' strings, by source
};

// Not thread-safe.
class ContextWriter {
 public:
  // The checks of `create` alone.
  [[nodiscard]] static Status check(const WriteOptions& options);

  // Refuses an impossible output before anything is compiled. INVALID_ARGUMENT: a missing output
  // path, a folder or device, a name that cannot be stated in a model, or a file that the operation
  // reads. FAIL: an existing output that may not be replaced, or a folder that cannot be written
  // to. NO_SUCHFILE: a missing folder.
  static Result<ContextWriter> create(WriteOptions options);

  ContextWriter(ContextWriter&&) noexcept;
  ContextWriter& operator=(ContextWriter&&) noexcept;
  ~ContextWriter();

  // Adds to WriteOptions::files what becomes known only after `create`. INVALID_ARGUMENT if an
  // output of this writer is one of them.
  [[nodiscard]] Status add_files(const OperationFiles& files);

  // Sets WriteOptions::specializations, which become known only after `create`.
  void state_specializations(std::map<std::string, ContentChecksum> written);

  // Begins a payload of the provider and returns its index. `compatibility` is a text of its own,
  // which counts instead of the one of its source. INVALID_ARGUMENT if its binary would be a file
  // that the operation reads, or if the text is not UTF-8.
  [[nodiscard]] Result<uint32_t> begin_payload(std::string_view ep_short_name,
                                               std::string compatibility = {});

  // Appends to a payload. FAIL as soon as embedded payloads exceed `max_model_bytes`. After a
  // failure the writer can only be destroyed.
  [[nodiscard]] Status append(uint32_t payload, std::span<const std::byte> bytes);

  // Adds a model that refers to the payloads of this writer; `finish` publishes it together with
  // the writer's own model. Fails as `create` does; also INVALID_ARGUMENT if payloads are embedded,
  // or if the output is in memory, in another folder, or that of another model.
  [[nodiscard]] Status add_model(WriteOptions options, ModelToWrite model);

  // Replaces the partitions in `model` by EPContext nodes, removes nodes and initializers that only
  // they used, and publishes. The first partition of each payload becomes its primary node.
  // `compatibility` contains the compatibility string of each source. The same input gives the same
  // bytes.
  //
  // INVALID_ARGUMENT if names, payload indices or texts are inconsistent; INVALID_GRAPH if a
  // partition is not convex; FAIL if the model exceeds `max_model_bytes`, or if the name of a
  // binary or of the external initializers is taken by a file with other content that is not known
  // to belong to the replaced output. Nothing is published then.
  [[nodiscard]] Result<WrittenContext> finish(
      graph::Model model, std::span<const WrittenPartition> partitions,
      const std::map<std::string, std::string>& compatibility) &&;

 private:
  struct State;
  explicit ContextWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace ephost::context
