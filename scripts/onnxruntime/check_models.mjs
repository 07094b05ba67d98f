#!/usr/bin/env node
// Runs generated models with ONNX Runtime and compares with the expected outputs beside them.
//
//   node check_models.mjs MODELS_DIR CACHE_DIR [name ...]
//
// MODELS_DIR is what make_models.py wrote; CACHE_DIR keeps the npm package between runs.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare } from './agreement.mjs';
import { VERSION, installRuntime, loadRuntime } from './runtime.mjs';
import { readTensors } from './tensors.mjs';

const MISSING = { ok: false, text: 'no expected output' };

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
