// Measures ephost and ONNX Runtime side by side; see scripts/bench_vs_onnxruntime.sh.
//
//   node compare.mjs BUILD_DIR MODELS_DIR CACHE_DIR [--sessions N] [--runs N] [--json FILE]
//
// MODELS_DIR holds a folder for each model. Peak resident memory is that above a chain of two nodes.

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { VERSION, installRuntime } from './runtime.mjs';
import { ONE_THREAD, SideBySide } from './side_by_side.mjs';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sessions: { type: 'string', default: '7' },
    runs: { type: 'string', default: '100' },
    json: { type: 'string' },
  },
});
if (positionals.length !== 3) {
  console.error('usage: compare.mjs BUILD_DIR MODELS_DIR CACHE_DIR [--sessions N] [--runs N] [--json FILE]');
  process.exit(2);
}
const [build, models, cache] = positionals.map((path) => resolve(path));
const SESSIONS = Number(flags.sessions);
const RUNS = Number(flags.runs);
const SMALLEST = 'chain-2'; // for the memory that a runtime needs by itself
const LARGE = 10000; // nodes; of larger graphs there is one session
const COUNTER = join(build, 'tests/support/libephost_count_allocations.so');
const sides = new SideBySide(build, cache);

/**
 * What ONNX Runtime's memory pattern takes: it asks its arena for all of it at once in the second
 * run. NaN where the arena had that much left over.
 */
function theirPlannedBytes(model) {
  const requests = sides.theirLogOfSecondRun(model).matchAll(/Extending BFCArena.*? num_bytes: (\d+)/g);
  const bytes = [...requests].map((match) => Number(match[1]));
  return bytes.length ? Math.max(...bytes) : NaN;
}

/** Allocations of a process per run: what more runs add to the count. */
function allocationsPerRun(launch) {
  const folder = mkdtempSync(join(tmpdir(), 'ephost-count-'));
  const count = (runs) => {
    const file = join(folder, String(runs));
    launch(runs, { ...ONE_THREAD, LD_PRELOAD: COUNTER, EPHOST_ALLOCATION_COUNT: file });
    return readFileSync(file, 'utf8').trim().split('\n').reduce((sum, line) => sum + Number(line), 0);
  };
  try {
    return (count(220) - count(20)) / 200;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const rows = [];
const line = (what, model, mine, other, unit, ratio) =>
  console.log(`${what.padEnd(22)} ${model.padEnd(14)} ${mine.padStart(10)} ${other.padStart(12)} ${unit.padEnd(4)} ${ratio.padStart(8)}`);
const text = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(4))) : '-');

function add(what, model, unit, mine, other) {
  rows.push({ what, model, unit, ephost: mine, onnxruntime: other, ratio: mine / other });
  line(what, model, text(mine), text(other), unit, text(mine / other));
}

function compare(name, baseline) {
  const model = join(models, name, 'model.onnx');
  const nodes = Number(/^(?:chain|fanout|gather)-(\d+)$/.exec(name)?.[1] ?? 0);
  const { ours, theirs } =
    nodes > LARGE ? sides.measure(model, 3, 1) : sides.measure(model, nodes ? RUNS : 5, SESSIONS);
  add('session creation', name, 'ms', ours.session * 1e3, theirs.session * 1e3);
  add('first run', name, 'ms', ours.firstRun * 1e3, theirs.firstRun * 1e3);
  add('run', name, 'ms', ours.run * 1e3, theirs.run * 1e3);
  if (nodes) add('run, per node', name, 'ns', (ours.run / nodes) * 1e9, (theirs.run / nodes) * 1e9);
  const above = (side) => ({ ours, theirs })[side].resident - baseline[side].resident;
  add('peak resident memory', name, 'MiB', above('ours') / 2 ** 20, above('theirs') / 2 ** 20);
  if (nodes > LARGE) return;
  add('planned peak', name, 'KiB', ours.planned / 1024, theirPlannedBytes(model) / 1024);
  if (!nodes) return;
  add('allocations per run', name, '',
      allocationsPerRun((runs, environment) => sides.runOurs(model, runs, {}, environment)),
      allocationsPerRun((runs, environment) => sides.runTheirs(model, runs, {}, environment)));
}

installRuntime(cache);
line('', 'model', 'ephost', `ORT ${VERSION}`, '', 'ratio');
const baseline = sides.measure(join(models, SMALLEST, 'model.onnx'), 1, SESSIONS);
const byNumber = new Intl.Collator('en', { numeric: true }).compare;
for (const name of readdirSync(models).sort(byNumber)) if (name !== SMALLEST) compare(name, baseline);
if (flags.json) writeFileSync(flags.json, JSON.stringify(rows, null, 2) + '\n');
