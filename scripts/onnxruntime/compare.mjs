// Measures ephost and ONNX Runtime side by side; see scripts/bench_vs_onnxruntime.sh.
//
//   node compare.mjs BUILD_DIR MODELS_DIR CACHE_DIR [--sessions N] [--runs N] [--json FILE]
//
// MODELS_DIR holds a folder for each model. Every session is created in a process of its own, ours
// and theirs in turn; medians are printed. Peak resident memory is that above a model of one node.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { VERSION, installRuntime } from './runtime.mjs';

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
const SMALLEST = 'chain-2';  // for the memory that a runtime needs by itself

const MEASURE = fileURLToPath(new URL('measure_session.mjs', import.meta.url));
const COUNTER = join(build, 'tests/benchmarks/libephost_count_allocations.so');
const QUIET = { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'inherit'] };
const WITH_LOG = { ...QUIET, stdio: 'pipe' };
const ONE_THREAD = { ...process.env, OMP_NUM_THREADS: '1' };

const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

/** One session and its runs with ephost. Optimisations off, as on the other side. */
function runOurs(model, runs, environment = ONE_THREAD) {
  const args = ['bench', model, '--sessions', '1', '--warm-up', '0', '--runs', String(runs),
                '--format', 'json', '--quiet'];
  return JSON.parse(execFileSync(join(build, 'bin/ephost'), args, { ...QUIET, env: environment }));
}

function ours(model, runs) {
  const report = runOurs(model, runs);
  return {
    session: report.session.first_seconds,
    firstRun: report.first_run_seconds,
    run: report.run.median_seconds,
    resident: report.peak_resident_bytes,
    planned: report.planned_memory.reduce((sum, block) => sum + block.peak_bytes, 0),
  };
}

const measureArgs = (model, runs) => [MEASURE, cache, model, String(runs)];

function runTheirs(model, runs, environment = ONE_THREAD) {
  return JSON.parse(execFileSync(process.execPath, measureArgs(model, runs), { ...QUIET, env: environment }));
}

function theirs(model, runs) {
  const report = runTheirs(model, runs);
  return {
    session: report.sessionSeconds,
    firstRun: report.firstRunSeconds,
    run: median(report.runSeconds),
    resident: report.peakResidentBytes,
  };
}

/**
 * What ONNX Runtime's memory pattern takes: it asks its arena for all of it at once in the second
 * run. NaN where the arena had that much left over.
 */
function theirPlannedBytes(model) {
  const args = [...measureArgs(model, 2), '--verbose'];
  const { stderr } = spawnSync(process.execPath, args, { ...WITH_LOG, env: ONE_THREAD });
  const later = stderr.slice(stderr.indexOf('first run ended'));
  const requested = [...later.matchAll(/Extending BFCArena.*? num_bytes: (\d+)/g)].map((match) => Number(match[1]));
  return requested.length ? Math.max(...requested) : NaN;
}

/** Allocations of a process per run: what more runs add to the count. */
function allocationsPerRun(launch, model) {
  const folder = mkdtempSync(join(tmpdir(), 'ephost-count-'));
  const count = (runs) => {
    const file = join(folder, String(runs));
    launch(model, runs, { ...ONE_THREAD, LD_PRELOAD: COUNTER, EPHOST_ALLOCATION_COUNT: file });
    return readFileSync(file, 'utf8').trim().split('\n').reduce((sum, line) => sum + Number(line), 0);
  };
  try {
    return (count(220) - count(20)) / 200;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Medians over several launches, the two sides in turn. */
function measure(model, runs, sessions = SESSIONS) {
  const samples = { ours: [], theirs: [] };
  for (let i = 0; i < sessions; i++) {
    samples.ours.push(ours(model, runs));
    samples.theirs.push(theirs(model, runs));
  }
  const medians = (all) =>
    Object.fromEntries(Object.keys(all[0]).map((key) => [key, median(all.map((sample) => sample[key]))]));
  return { ours: medians(samples.ours), theirs: medians(samples.theirs) };
}

const digits = (value) => (value >= 100 ? 0 : value >= 10 ? 1 : 3);
const rows = [];
function add(what, model, unit, mine, other) {
  const ratio = mine / other;
  rows.push({ what, model, unit, ephost: mine, onnxruntime: other, ratio });
  const text = (value) => (Number.isFinite(value) ? value.toFixed(digits(value)) : '-');
  console.log([what.padEnd(26), model.padEnd(18), text(mine).padStart(10), text(other).padStart(12),
               unit.padEnd(6), text(ratio).padStart(8)].join(' '));
}

const MILLI = 1e3;
const NANO = 1e9;
const MEBI = 1 / (1 << 20);

installRuntime(cache);
console.log(`${''.padEnd(26)} ${'model'.padEnd(18)} ${'ephost'.padStart(10)} ${'ORT'.padStart(8)} ${VERSION.slice(0, 4)}` +
            `${''.padEnd(6)} ${'ratio'.padStart(8)}`);
const baseline = measure(join(models, SMALLEST, 'model.onnx'), 1);
const names = readdirSync(models).filter((name) => name !== SMALLEST).sort(new Intl.Collator('en', { numeric: true }).compare);
for (const name of names) {
  const model = join(models, name, 'model.onnx');
  const nodes = Number(/^(?:chain|fanout|gather)-(\d+)$/.exec(name)?.[1] ?? 0);
  const { ours: mine, theirs: other } =
    nodes > 10000 ? measure(model, 3, 1) : measure(model, nodes ? RUNS : 5);
  add('session creation', name, 'ms', mine.session * MILLI, other.session * MILLI);
  add('first run', name, 'ms', mine.firstRun * MILLI, other.firstRun * MILLI);
  add('run', name, 'ms', mine.run * MILLI, other.run * MILLI);
  if (name.startsWith('chain')) add('run, per node', name, 'ns', (mine.run / nodes) * NANO, (other.run / nodes) * NANO);
  add('peak resident memory', name, 'MiB', (mine.resident - baseline.ours.resident) * MEBI,
      (other.resident - baseline.theirs.resident) * MEBI);
  if (nodes > 10000) continue;
  add('planned peak', name, 'KiB', mine.planned / 1024, theirPlannedBytes(model) / 1024);
  if (nodes) add('allocations per run', name, '', allocationsPerRun(runOurs, model), allocationsPerRun(runTheirs, model));
}
if (flags.json) writeFileSync(flags.json, JSON.stringify(rows, null, 2) + '\n');
