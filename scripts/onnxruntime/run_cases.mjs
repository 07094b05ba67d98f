// Runs models with ONNX Runtime; see scripts/compare_operators_with_onnxruntime.sh.
//
//   node run_cases.mjs CACHE_DIR < requests > results
//
// A request is a line {name, model, inputs: {name: tensor}}, a result {name, outputs: {name: tensor}} or
// {name, error}. A tensor has its element type's number, dims and data: base64 of its bytes, or
// strings. A model may end the process; the caller then continues with the case after it.

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { installRuntime, loadRuntime } from './runtime.mjs';
import { ARRAYS, TYPES } from './tensors.mjs';

function toTensor(ort, { type, dims, data }) {
  const name = TYPES[type];
  if (name === 'string') return new ort.Tensor(name, data, dims);
  const bytes = Uint8Array.from(Buffer.from(data, 'base64')); // aligned for the typed array
  return new ort.Tensor(name, new ARRAYS[name](bytes.buffer), dims);
}

function fromTensor({ type, dims, data }) {
  const number = TYPES.indexOf(type);
  if (number < 0) throw new Error(`an output of type ${type} cannot be read`);
  if (type === 'string') return { type: number, dims, data };
  return { type: number, dims, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') };
}

async function run(ort, { model, inputs }) {
  // Unoptimised, so that the operator is judged as it stands in the model.
  const options = { graphOptimizationLevel: 'disabled', logSeverityLevel: 4, intraOpNumThreads: 1 };
  const session = await ort.InferenceSession.create(model, options);
  const feeds = Object.entries(inputs).map(([name, tensor]) => [name, toTensor(ort, tensor)]);
  const results = await session.run(Object.fromEntries(feeds));
  const outputs = Object.entries(results).map(([name, tensor]) => [name, fromTensor(tensor)]);
  await session.release();
  return { outputs: Object.fromEntries(outputs) };
}

const [cache] = process.argv.slice(2);
installRuntime(cache);
const ort = loadRuntime(cache);
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const result = await run(ort, request).catch((error) => ({ error: error.message }));
  writeSync(1, JSON.stringify({ name: request.name, ...result }) + '\n');
}
