// Measures single operators with ephost's CPU provider and with ONNX Runtime's; see
// scripts/bench_operators_vs_onnxruntime.sh.
//
//   node compare_operators.mjs BUILD_DIR MODELS_DIR CACHE_DIR [--sessions N] [name ...]
//
// Prints what a node takes: the median run of a model of many copies of it (make_operator_models.py),
// without what the model's readers take on the same side, divided by the number of copies. The exit
// status tells whether all operators stay within the limit.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { VERSION, installRuntime } from './runtime.mjs';
import { SideBySide, median } from './side_by_side.mjs';

const LIMIT = 3;
const LAUNCH_SECONDS = 0.2; // what the runs of one launch should take together

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { sessions: { type: 'string', default: '5' } },
});
const [build, models, cache, ...chosen] = positionals;
if (!cache) {
  console.error('usage: compare_operators.mjs BUILD_DIR MODELS_DIR CACHE_DIR [--sessions N] [name ...]');
  process.exit(2);
}
installRuntime(cache);
const sides = new SideBySide(resolve(build), resolve(cache));
const cases = JSON.parse(readFileSync(join(models, 'cases.json'), 'utf8'));

/** Microseconds that a node takes on both sides. Launches alternate, so that other work meets all. */
function measure(name) {
  const { copies, readers } = cases[name];
  const model = join(models, name, 'model.onnx');
  const empty = join(models, 'readers', String(readers), 'model.onnx');
  const seconds = sides.runOurs(model, 3).run.median_seconds;
  const runs = Math.min(Math.max(Math.round(LAUNCH_SECONDS / seconds), 10), 2000);
  const samples = Array.from({ length: Number(flags.sessions) }, () => {
    const [full, rest] = [model, empty].map((each) => sides.measure(each, runs, 1));
    return ['ours', 'theirs'].map((side) => (full[side].run - rest[side].run) / copies);
  });
  return [0, 1].map((side) => Math.max(median(samples.map((sample) => sample[side])), 0) * 1e6);
}

const print = (name, mine, other, ratio) =>
  console.log(`${name.padEnd(28)} ${mine.padStart(10)} ${other.padStart(12)} ${ratio.padStart(7)}`);
const text = (micro) => micro.toFixed(micro < 10 ? 2 : 1);

print('microseconds a node', 'ephost', `ORT ${VERSION}`, 'ratio');
const slow = [];
for (const name of chosen.length ? chosen : Object.keys(cases)) {
  const [mine, other] = measure(name);
  const ratio = mine / other;
  if (!(ratio <= LIMIT)) slow.push(name);
  print(name, text(mine), text(other), ratio.toFixed(2));
}
console.log(slow.length ? `more than ${LIMIT} times as slow: ${slow.join('; ')}` : `all within ${LIMIT} times`);
process.exitCode = slow.length ? 1 : 0;
