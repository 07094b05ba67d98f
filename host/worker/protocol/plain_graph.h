// Nodes and values of graphs as plain data, which the worker reads where it lies: a message for
// each of them would take several times the memory and the time. A GraphPart tells where its
// PlainPart is, which its nodes follow, then its values. What these refer to is anywhere in the
// same data; what is rare is in GraphPart.rare.
#pragma once

#include <cstdint>

namespace ephost::worker {

// Entries of the type of the field, which begin `offset` bytes into the data.
struct PlainList {
  uint32_t offset = 0;
  uint32_t count = 0;
};

struct PlainPart {
  uint32_t nodes = 0;
  uint32_t values = 0;
};

struct PlainPair {
  PlainList key, value;  // text
};

struct PlainAttribute {
  PlainList name;    // text
  PlainList values;  // float, int64_t, or PlainList of text
  int32_t kind = 0;
  uint32_t rare = 0;  // values or graphs: a position in GraphPart.rare, and 1
};

struct PlainNode {
  uint32_t index = 0;
  int32_t since_version = 0;
  uint32_t flags = 0;
  PlainList name, op_type, domain, overload;   // text
  PlainList inputs, outputs, implicit_inputs;  // uint32_t
  PlainList attributes;                        // PlainAttribute
  PlainList metadata;                          // PlainPair
};

struct PlainType {
  int32_t kind = 0;
  int32_t element_type = 0;
  int32_t rank = 0;
  PlainList shape;      // int64_t
  PlainList dim_names;  // PlainList of text; none if no dimension has one
  PlainList content;    // PlainType: one or none
};

// A tensor of numbers in shared memory.
struct PlainConstant {
  uint64_t region = 0;
  uint64_t offset = 0;
  uint64_t byte_size = 0;
  int32_t element_type = 0;
  PlainList shape;  // int64_t
};

struct PlainValueInfo {
  uint32_t index = 0;
  uint32_t flags = 0;
  uint32_t producer = 0;
  uint32_t constant = 0;  // any other one: a position in GraphPart.rare, and 1
  PlainList in_region;    // PlainConstant: one or none
  PlainType type;
  PlainList name;       // text
  PlainList consumers;  // uint32_t
};

}  // namespace ephost::worker
