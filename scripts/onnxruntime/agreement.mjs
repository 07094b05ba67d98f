// Whether an output of a model agrees with the expected one.

const RTOL = 1e-3;
const ATOL = 1e-4;
const QUANTIZED_LIMIT = 0.05; // of |actual - expected| / |expected|, Euclidean

/**
 * The distance of the tensor `actual` from `expected`, and whether it is within the tolerance. Outputs of a model that
 * quantises activations have to be near the expected ones as a whole: a value beside the border of two steps may fall
 * on either side of it, and what reads it is a step off.
 */
export function compare(actual, expected, quantized) {
  const [got, wanted] = [actual, expected].map((tensor) => `${tensor.type}[${tensor.dims}]`);
  if (got !== wanted) return { ok: false, text: `is ${got}, expected ${wanted}` };
  let [worst, ok, squares, total] = [0, true, 0, 0];
  for (let i = 0; i < expected.data.length; i++) {
    const value = Number(expected.data[i]);
    const error = Math.abs(Number(actual.data[i]) - value);
    worst = Math.max(worst, error);
    squares += error * error;
    total += value * value;
    if (!(error <= ATOL + RTOL * Math.abs(value))) ok = false;
  }
  if (!quantized) return { ok, text: `largest difference ${worst.toExponential(1)}` };
  const relative = squares > 0 ? Math.sqrt(squares / total) : 0;
  return { ok: relative <= QUANTIZED_LIMIT, text: `relative distance ${relative.toExponential(1)}` };
}
