#include "plugins/dnnl/passes/passes.h"

namespace ephost_dnnl {

void run_passes(LoweredPartition& partition, const FastPrimitiveQuery& is_fast, bool has_products) {
  fold_batch_normalizations(partition);
  remove_dead_code(partition);
  fuse_post_ops(partition, is_fast);
  remove_dead_code(partition);  // what nothing reads would count as a reader
  fuse_quantization(partition, is_fast, has_products);
  remove_dead_code(partition);
}

}  // namespace ephost_dnnl
