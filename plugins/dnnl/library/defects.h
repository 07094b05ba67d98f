// defects.h: known defects of the library in this process. The library is probed rather than judged
// by its version, so that one without the defect is used in full. The code that picks primitives
// (executor/primitives/primitive_choice) avoids the defects named here.
#pragma once

namespace ephost_dnnl {

// Whether a primitive runs the second of two element-wise post-ops of one algorithm with the
// parameters of the first, as oneDNN 2.6.3 does: its generated code keeps one set of parameters for
// each algorithm. The first call runs up to three small primitives, which takes a fraction of a
// millisecond if the first one shows the defect. May be called from any thread.
[[nodiscard]] bool mixes_up_equal_post_ops();

}  // namespace ephost_dnnl
