// Creates one session of a model in this process, runs it, and prints what that took as JSON.
//
//   node measure_session.mjs CACHE_DIR MODEL RUNS [--verbose]
//
// One thread, sequential, optimisations off. With --verbose ONNX Runtime logs to standard error what
// its arena allocates, and a line says where the first run has ended.

import { performance } from 'node:perf_hooks';
import { readFileSync } from 'node:fs';
import { loadRuntime } from './runtime.mjs';

const OPTIONS = {
  graphOptimizationLevel: 'disabled',
  executionMode: 'sequential',
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
};

const ARRAYS = {
  float32: Float32Array, int64: BigInt64Array, int32: Int32Array, uint8: Uint8Array, bool: Uint8Array,
};

// Zeros, or numbers in [-1, 1) where the type has them.
function someInput(ort, { type, shape }) {
  const extents = shape.map((extent) => (typeof extent === 'number' ? extent : 1));
  const elements = new ARRAYS[type](extents.reduce((a, b) => a * b, 1));
  if (type === 'float32') elements.forEach((_, i) => (elements[i] = 2 * Math.random() - 1));
  return new ort.Tensor(type, elements, extents);
}

async function timed(work) {
  const start = performance.now();
  const result = await work();
  return [(performance.now() - start) / 1000, result];
}

function peakResidentBytes() {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}

const [cache, model, runs, verbose] = process.argv.slice(2);
const ort = loadRuntime(cache);
const options = verbose
  ? // Initializers elsewhere, so that the arena holds intermediate values only.
    { ...OPTIONS, logSeverityLevel: 0, logVerbosityLevel: 1,
      extra: { session: { use_device_allocator_for_initializers: '1' } } }
  : { ...OPTIONS, logSeverityLevel: 3 };
if (verbose) ort.env.logLevel = 'verbose';
const [sessionSeconds, session] = await timed(() => ort.InferenceSession.create(model, options));
const feeds = Object.fromEntries(session.inputMetadata.map((input) => [input.name, someInput(ort, input)]));
const [firstRunSeconds] = await timed(() => session.run(feeds));
if (verbose) console.error('first run ended');
const runSeconds = [];
for (let i = 0; i < Number(runs); i++) runSeconds.push((await timed(() => session.run(feeds)))[0]);
const result = { sessionSeconds, firstRunSeconds, runSeconds, peakResidentBytes: peakResidentBytes() };
console.log(JSON.stringify(result));
