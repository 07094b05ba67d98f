// defects.h: what the library in this process is known to compute wrongly. It is asked, not judged
// by its version, so that a library without the defect may do all that it can. Whoever picks
// primitives (executor/primitive_choice) keeps away from what is named here.
#pragma once

namespace ephost_dnnl {

// Whether a primitive runs the second of two element-wise post-ops of one algorithm with the
// parameters of the first, as oneDNN 2.6.3 does: its generated code keeps one set of parameters for
// each algorithm. The first call runs up to three small primitives, which takes a fraction of a
// millisecond where the first one shows the defect. Any thread.
[[nodiscard]] bool mixes_up_equal_post_ops();

}  // namespace ephost_dnnl
