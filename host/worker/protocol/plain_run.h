// The request and the answer of `compute` as plain data, which lie in the hot area of a channel, or
// in Request.plain_run where the worker needs something else first. A request is a PlainRun, its
// values (inputs, then outputs), and their extents.
#pragma once

#include <cstdint>
#include <cstring>

namespace ephost::worker {

enum class PlainForm : uint32_t {
  kOmitted,      // a null argument
  kNone,         // a value without content, or of a kind without data
  kUnallocated,  // an output that the computation allocates
  kShared,       // a region, and an offset in it
  kAddress,      // in another memory: an address of the worker
  kStructured,   // strings, sequences, maps, sparse tensors: Request.values, by the index `offset`
};

struct PlainValue {
  PlainForm form = PlainForm::kOmitted;
  uint32_t rank = 0;
  uint64_t region = 0;
  uint64_t offset = 0;  // or an address, or an index
  uint64_t byte_size = 0;
  uint64_t first_extent = 0;  // among the extents of the run
  int32_t element_type = 0;
  int32_t kind = 0;
  uint32_t memory = 0;
  uint32_t number = 0;  // by which callbacks name it; 0: none
};

struct PlainRun {
  uint64_t computation = 0;
  uint64_t state = 0;
  uint64_t run_id = 0;
  uint64_t workspace = 0;        // an address in another memory
  uint64_t workspace_bytes = 0;  // in host memory: the worker's own
  uint64_t workspace_alignment = 0;
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  uint64_t extents = 0;
};

struct PlainAnswer {
  int32_t code = 0;
  uint32_t has_message = 0;
  uint64_t message_size = 0;  // bytes of text that follow
};

}  // namespace ephost::worker
