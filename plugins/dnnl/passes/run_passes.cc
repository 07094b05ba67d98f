#include "plugins/dnnl/passes/passes.h"

namespace ephost_dnnl {

void run_passes(LoweredPartition& partition, const FastPrimitiveQuery& is_fast) {
  fold_batch_normalizations(partition);
  remove_dead_code(partition);
  fuse_post_ops(partition, is_fast);
  remove_dead_code(partition);
}

}  // namespace ephost_dnnl
