// Measures single operators with ephost's CPU provider and with ONNX Runtime's; see
// scripts/bench_operators_vs_onnxruntime.sh.
//
//   node compare_operators.mjs BUILD_DIR MODELS_DIR CACHE_DIR [name ...]
//
// Prints medians of several launches, without what a run of one Identity of one element takes on the
// same side. The exit status tells whether all operators stay within the limit.

import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { VERSION, installRuntime } from './runtime.mjs';
import { SideBySide } from './side_by_side.mjs';

const LIMIT = 3;
const SESSIONS = 5;
const RUNS = 200;
const EMPTY = 'Identity of one element';

const [build, models, cache, ...chosen] = process.argv.slice(2);
if (!cache) {
  console.error('usage: compare_operators.mjs BUILD_DIR MODELS_DIR CACHE_DIR [name ...]');
  process.exit(2);
}
installRuntime(cache);
const sides = new SideBySide(resolve(build), resolve(cache));
const measure = (name) => sides.measure(join(models, name, 'model.onnx'), RUNS, SESSIONS);
const print = (name, mine, other, ratio) =>
  console.log(`${name.padEnd(28)} ${mine.padStart(10)} ${other.padStart(12)} ${ratio.padStart(7)}`);
const micro = (seconds) => (seconds * 1e6).toFixed(1);

print('microseconds a run', 'ephost', `ORT ${VERSION}`, 'ratio');
const empty = measure(EMPTY);
print(EMPTY, micro(empty.ours.run), micro(empty.theirs.run), '');
const slow = [];
const names = chosen.length ? chosen : readdirSync(models).sort().filter((name) => name !== EMPTY);
for (const name of names) {
  const { ours, theirs } = measure(name);
  const mine = Math.max(ours.run - empty.ours.run, 0);
  const other = Math.max(theirs.run - empty.theirs.run, 0);
  const ratio = mine / other;
  if (!(ratio <= LIMIT)) slow.push(name);
  print(name, micro(mine), micro(other), ratio.toFixed(2));
}
console.log(slow.length ? `more than ${LIMIT} times as slow: ${slow.join('; ')}` : `all within ${LIMIT} times`);
process.exitCode = slow.length ? 1 : 0;
