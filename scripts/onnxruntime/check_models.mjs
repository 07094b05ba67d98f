#!/usr/bin/env node
// Runs generated models with ONNX Runtime and compares with the expected outputs beside them.
//
//   node check_models.mjs MODELS_DIR CACHE_DIR [name ...]
//
// MODELS_DIR is what make_models.py wrote; CACHE_DIR keeps the npm package between runs. Outputs of a model
// that quantises activations have to be near the expected ones as a whole: a value beside the border of two
// steps may fall on either side of it, and what reads it is a step off.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION, installRuntime, loadRuntime } from './runtime.mjs';
import { readTensors } from './tensors.mjs';

const RTOL = 1e-3;
const ATOL = 1e-4;
const QUANTIZED_LIMIT = 0.05; // of |actual - expected| / |expected|, Euclidean
const MISSING = { ok: false, text: 'no expected output' };

/** The distance of `actual` from `expected`, and whether it is within the tolerance. */
function compare(actual, expected, quantized) {
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

async function checkDataSet(ort, session, folder, quantized) {
  const feeds = {};
  for (const { name, type, data, dims } of readTensors(folder, 'input_')) {
    feeds[name] = new ort.Tensor(type, data, dims);
  }
  const results = await session.run(feeds);
  const expected = new Map(readTensors(folder, 'output_').map((tensor) => [tensor.name, tensor]));
  return session.outputNames.map((name) => {
    const tensor = expected.get(name);
    return { name, ...(tensor ? compare(results[name], tensor, quantized) : MISSING) };
  });
}

async function checkModel(ort, folder) {
  // Unoptimised, so that each operator is judged as it stands in the model.
  const options = { graphOptimizationLevel: 'disabled', logSeverityLevel: 3 };
  const file = join(folder, 'model.onnx');
  const quantized = readFileSync(file).includes('QuantizeLinear');
  const session = await ort.InferenceSession.create(file, options);
  const verdicts = [];
  for (const entry of readdirSync(folder).sort()) {
    if (!entry.startsWith('test_data_set_')) continue;
    verdicts.push(...(await checkDataSet(ort, session, join(folder, entry), quantized)));
  }
  await session.release();
  return verdicts.length ? verdicts : [{ name: 'test data', ...MISSING }];
}

async function main([modelsDir, cacheDir, ...chosen]) {
  if (!cacheDir) {
    console.error('usage: check_models.mjs MODELS_DIR CACHE_DIR [name ...]');
    process.exit(2);
  }
  installRuntime(cacheDir);
  const ort = loadRuntime(cacheDir);
  const holdsModel = (name) => existsSync(join(modelsDir, name, 'model.onnx'));
  const names = chosen.length ? chosen : readdirSync(modelsDir).filter(holdsModel).sort();
  let failed = 0;
  for (const name of names) {
    for (const verdict of await checkModel(ort, join(modelsDir, name))) {
      if (!verdict.ok) failed++;
      console.log(`${verdict.ok ? 'ok  ' : 'FAIL'} ${name}: ${verdict.name}: ${verdict.text}`);
    }
  }
  console.log(`${names.length} models with ONNX Runtime ${VERSION}: ${failed} outputs disagree`);
  process.exitCode = failed || !names.length ? 1 : 0;
}

await main(process.argv.slice(2));
