// A session of ONNX Runtime that runs from time to time, until it is killed; its threads spin between the runs. Writes
// a line when it has run once.
//
//   node spinning_session.mjs CACHE_DIR MODEL THREADS

import { setTimeout } from 'node:timers/promises';
import { loadRuntime } from './runtime.mjs';

const [cache, model, threads] = process.argv.slice(2);
const ort = loadRuntime(cache);
const session = await ort.InferenceSession.create(model, { intraOpNumThreads: Number(threads), logSeverityLevel: 3 });
const feeds = Object.fromEntries(session.inputMetadata.map(({ name, shape }) => {
  const extents = shape.map((extent) => (typeof extent === 'number' ? extent : 1));
  return [name, new ort.Tensor('float32', new Float32Array(extents.reduce((a, b) => a * b, 1)), extents)];
}));
for (let run = 0; ; run++) {
  await session.run(feeds);
  if (run === 0) console.log('running');
  await setTimeout(1);
}
