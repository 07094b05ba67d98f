#!/usr/bin/env node
// Runs generated models with ONNX Runtime and compares with the expected outputs beside them.
//
//   node check_models.mjs MODELS_DIR CACHE_DIR [name ...]
//
// MODELS_DIR is what make_models.py wrote; CACHE_DIR keeps the npm package between runs.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION, installRuntime, loadRuntime } from './runtime.mjs';

const RTOL = 1e-3;
const ATOL = 1e-4;
const MISSING = { ok: false, text: 'no expected output' };

// Element types of TensorProto: ONNX Runtime's name and the array that holds raw_data.
const TYPES = {
  1: ['float32', Float32Array],
  7: ['int64', BigInt64Array],
  9: ['bool', Uint8Array],
};

/** Yields [field number, value] of a protobuf message: BigInt for varints, bytes for the rest. */
function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    if ((key & 7) === 0) {
      yield [key >> 3, varint()];
    } else if ((key & 7) === 2) {
      const size = Number(varint());
      yield [key >> 3, bytes.subarray(at, (at += size))];
    } else {
      throw new Error(`wire type ${key & 7} is not used by the tensors of make_models.py`);
    }
  }
}

/** Reads a TensorProto whose elements are in raw_data. */
function readTensor(file) {
  const tensor = { name: '', dims: [], raw: new Uint8Array() };
  for (const [number, value] of fields(readFileSync(file))) {
    if (number === 1) tensor.dims.push(Number(value));
    else if (number === 2) tensor.elemType = Number(value);
    else if (number === 8) tensor.name = Buffer.from(value).toString();
    else if (number === 9) tensor.raw = value;
    else throw new Error(`${file}: unexpected field ${number}`);
  }
  const [type, ArrayType] = TYPES[tensor.elemType];
  const copy = Uint8Array.from(tensor.raw); // aligned for the typed array
  return { name: tensor.name, type, dims: tensor.dims, data: new ArrayType(copy.buffer) };
}

function readTensors(folder, prefix) {
  const count = readdirSync(folder).filter((file) => file.startsWith(prefix)).length;
  return Array.from({ length: count }, (_, i) => readTensor(join(folder, `${prefix}${i}.pb`)));
}

/** The largest |actual - expected|, and whether every element is within the tolerance. */
function compare(actual, expected) {
  const [got, wanted] = [actual, expected].map((tensor) => `${tensor.type}[${tensor.dims}]`);
  if (got !== wanted) return { ok: false, text: `is ${got}, expected ${wanted}` };
  let [worst, ok] = [0, true];
  for (let i = 0; i < expected.data.length; i++) {
    const value = Number(expected.data[i]);
    const error = Math.abs(Number(actual.data[i]) - value);
    worst = Math.max(worst, error);
    if (!(error <= ATOL + RTOL * Math.abs(value))) ok = false;
  }
  return { ok, text: `largest difference ${worst.toExponential(1)}` };
}

async function checkDataSet(ort, session, folder) {
  const feeds = {};
  for (const { name, type, data, dims } of readTensors(folder, 'input_')) {
    feeds[name] = new ort.Tensor(type, data, dims);
  }
  const results = await session.run(feeds);
  const expected = new Map(readTensors(folder, 'output_').map((tensor) => [tensor.name, tensor]));
  return session.outputNames.map((name) => {
    const tensor = expected.get(name);
    return { name, ...(tensor ? compare(results[name], tensor) : MISSING) };
  });
}

async function checkModel(ort, folder) {
  // Unoptimised, so that each operator is judged as it stands in the model.
  const options = { graphOptimizationLevel: 'disabled', logSeverityLevel: 3 };
  const session = await ort.InferenceSession.create(join(folder, 'model.onnx'), options);
  const verdicts = [];
  for (const entry of readdirSync(folder).sort()) {
    if (!entry.startsWith('test_data_set_')) continue;
    verdicts.push(...(await checkDataSet(ort, session, join(folder, entry))));
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
