// build_id.h: the dependencies of packed weights: the library's version, the instruction set it
// uses on this machine, and the number of threads. The context binary and the compatibility text
// carry it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ephost_dnnl {

// Revision of the context binary and of the recipe in it. Raised with every change to either.
inline constexpr uint32_t kContextFormat = 8;

struct BuildId {
  std::string library;          // "2.6.3+<hash of its sources>"
  std::string instruction_set;  // "avx512_core"
  int threads = 1;
  bool has_chosen_threads = false;  // by the user; otherwise the number follows from the machine
};

// The build id of the library in this process, which detects the machine when it is first asked.
[[nodiscard]] BuildId current_build_id(int threads);

// "oneDNN 2.6.3+<hash>", for EPContext nodes.
[[nodiscard]] std::string sdk_version(const BuildId& id);

// "ephost.dnnl/7;onednn=2.6.3+<hash>;isa=avx512_core;threads=8"; with ";chosen" at the end if the
// user chose the number of threads.
[[nodiscard]] std::string compatibility_text(const BuildId& id);

// Judges the text of a context against this process: EPH_COMPATIBILITY_OPTIMAL if equal, or if only
// a number of threads differs that the user chose; PREFER_RECOMPILATION if another number of
// threads does; NOT_APPLICABLE if it is not a text of this provider; else UNSUPPORTED.
[[nodiscard]] int32_t judge_compatibility(std::string_view text, const BuildId& current);

}  // namespace ephost_dnnl
