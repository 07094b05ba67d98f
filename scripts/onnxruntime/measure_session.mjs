// Creates one session of a model in this process, runs it, and prints what that took as JSON.
//
//   node measure_session.mjs CACHE_DIR MODEL RUNS [--threads N] [--optimize] [--inputs FOLDER] [--verbose]
//   node measure_session.mjs CACHE_DIR MODEL 0 --optimize --save FILE
//
// Sequential, with one thread and without optimisations unless the flags say otherwise. The inputs are the tensors
// input_*.pb in FOLDER, otherwise random. With --verbose ONNX Runtime logs to standard error what its arena allocates,
// and a line says where the first run has ended. --save writes the optimised model.

import { performance } from 'node:perf_hooks';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadRuntime } from './runtime.mjs';
import { ARRAYS, readTensors } from './tensors.mjs';

const { values: flags, positionals: [cache, model, runs] } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '1' },
    optimize: { type: 'boolean', default: false },
    inputs: { type: 'string' },
    save: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

const OPTIONS = {
  graphOptimizationLevel: flags.optimize ? 'all' : 'disabled',
  executionMode: 'sequential',
  intraOpNumThreads: Number(flags.threads),
  interOpNumThreads: 1,
  logSeverityLevel: 3,
  ...(flags.save ? { optimizedModelFilePath: flags.save } : {}),
  // Initializers elsewhere, so that the arena holds intermediate values only.
  ...(flags.verbose
    ? { logSeverityLevel: 0, logVerbosityLevel: 1,
        extra: { session: { use_device_allocator_for_initializers: '1' } } }
    : {}),
};

// Zeros, or numbers in [-1, 1) where the type has them.
function someInput(ort, { type, shape }) {
  const extents = shape.map((extent) => (typeof extent === 'number' ? extent : 1));
  const elements = new ARRAYS[type](extents.reduce((a, b) => a * b, 1));
  if (type === 'float32') elements.forEach((_, i) => (elements[i] = 2 * Math.random() - 1));
  return new ort.Tensor(type, elements, extents);
}

function inputsOf(ort, session) {
  const inputs = flags.inputs
    ? readTensors(flags.inputs, 'input_').map(({ name, type, data, dims }) => [name, new ort.Tensor(type, data, dims)])
    : session.inputMetadata.map((input) => [input.name, someInput(ort, input)]);
  return Object.fromEntries(inputs);
}

async function timed(work) {
  const start = performance.now();
  const result = await work();
  return [(performance.now() - start) / 1000, result];
}

function peakResidentBytes() {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}

const ort = loadRuntime(cache);
if (flags.verbose) ort.env.logLevel = 'verbose';
const [sessionSeconds, session] = await timed(() => ort.InferenceSession.create(model, OPTIONS));
if (!flags.save) {
  const feeds = inputsOf(ort, session);
  const [firstRunSeconds] = await timed(() => session.run(feeds));
  if (flags.verbose) console.error('first run ended');
  const runSeconds = [];
  for (let i = 0; i < Number(runs); i++) runSeconds.push((await timed(() => session.run(feeds)))[0]);
  const result = { sessionSeconds, firstRunSeconds, runSeconds, peakResidentBytes: peakResidentBytes() };
  console.log(JSON.stringify(result));
}
