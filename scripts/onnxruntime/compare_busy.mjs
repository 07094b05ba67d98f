// Measures runs of ephost and ONNX Runtime beside busy programs; see scripts/bench_busy.sh.
//
//   node compare_busy.mjs BUILD_DIR MODELS_DIR CACHE_DIR [option ...]

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { folderOf, prepare } from './model_forms.mjs';
import { VERSION, installRuntime } from './runtime.mjs';
import { SideBySide, median } from './side_by_side.mjs';

const SPINNER = fileURLToPath(new URL('spinning_session.mjs', import.meta.url));
const PROCESSORS = availableParallelism();
/** The number of busy threads of each load; a session has its own. */
const LOADS = { 0: 0, half: Math.ceil(PROCESSORS / 2), all: PROCESSORS, triple: 3 * PROCESSORS, session: 0 };
const SIDES = { ours: 'sampleOfOurs', theirs: 'sampleOfTheirs' };

function readArguments() {
  const { values: flags, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      models: { type: 'string', default: 'mobilenetv2,resnet50' },
      forms: { type: 'string', default: 'float,int8' },
      threads: { type: 'string', default: powersUpTo(PROCESSORS).join(',') },
      loads: { type: 'string', default: Object.keys(LOADS).join(',') },
      repetitions: { type: 'string', default: '3' },
      runs: { type: 'string', default: '50' },
      ep: { type: 'string', multiple: true, default: [] },
      json: { type: 'string' },
    },
  });
  const [build, models, cache] = positionals.map((path) => resolve(path));
  const loads = flags.loads.split(',');
  const unknown = loads.find((load) => !(load in LOADS));
  if (unknown !== undefined) throw new Error(`there is no load '${unknown}'; of ${Object.keys(LOADS).join(', ')}`);
  return {
    build, models, cache, loads,
    names: flags.models.split(','),
    forms: flags.forms.split(','),
    threads: flags.threads.split(',').map(Number),
    repetitions: Number(flags.repetitions),
    runs: Number(flags.runs),
    providers: flags.ep.length ? flags.ep : ['dnnl'],
    json: flags.json,
  };
}

function powersUpTo(most) {
  const numbers = [];
  for (let number = 1; number < most; number *= 2) numbers.push(number);
  return [...numbers, most];
}

/** Starts the programs of a load; returns what ends them. */
async function startLoad(load, { models, cache }) {
  const children = Array.from({ length: LOADS[load] }, () => spawn('sh', ['-c', 'while :; do :; done']));
  if (load === 'session') {
    const model = join(folderOf(models, 'mobilenetv2'), 'model.onnx');
    const session = spawn(process.execPath, [SPINNER, cache, model, String(PROCESSORS)],
                          { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(session);
    await new Promise((ready, failed) => {
      session.stdout.once('data', ready);
      session.once('exit', () => failed(new Error('the spinning session has ended')));
    });
  }
  return () => children.forEach((child) => child.kill('SIGKILL'));
}

/** Adds a sample of each side and number of threads under a load; the other side first each time. */
async function sampleAll(samples, load, repetition, sides, { model, conditions }, options) {
  const end = await startLoad(load, options);
  try {
    for (const threads of options.threads) {
      for (const side of repetition % 2 ? ['theirs', 'ours'] : ['ours', 'theirs']) {
        const { run } = sides[SIDES[side]](model[side], options.runs, { ...conditions[side], threads });
        ((samples[load] ??= {})[threads] ??= { ours: [], theirs: [] })[side].push(run);
      }
    }
  } finally {
    end();
  }
}

const WIDTHS = [26, 9, 8, 10, 10, 10, 10, 10];
const printLine = (cells) => console.log(cells.map((cell, i) => String(cell).padStart(WIDTHS[i])).join(' '));
const ratio = (a, b) => (a && b ? (a / b).toFixed(2) : '-');

function printTable(label, samples, { loads, threads }) {
  const time = (load, number, side) => samples[load]?.[number] && median(samples[load][number][side]);
  for (const load of loads) {
    for (const number of threads) {
      const [ours, theirs] = ['ours', 'theirs'].map((side) => time(load, number, side));
      printLine([label, load, number, (ours * 1e3).toFixed(2), (theirs * 1e3).toFixed(2),
                 ratio(ours, time('0', number, 'ours')), ratio(ours, time(load, 1, 'ours')), ratio(ours, theirs)]);
    }
  }
}

const options = readArguments();
installRuntime(options.cache);
const sides = new SideBySide(options.build, options.cache);
const report = { onnxruntime: VERSION, processors: PROCESSORS, runs: options.runs, models: {} };
printLine([`${PROCESSORS} processors`, 'load', 'threads', 'run ms', 'ORT ms', 'to quiet', 'to 1 thr.', 'to ORT']);
for (const name of options.names) {
  for (const form of options.forms) {
    const prepared = prepare(sides, options.models, name, form, options.providers);
    const samples = {};
    for (let i = 0; i < options.repetitions; i++) {
      for (const load of options.loads) await sampleAll(samples, load, i, sides, prepared, options);
    }
    printTable(`${name} ${form}`, samples, options);
    report.models[`${name} ${form}`] = samples;
  }
}
if (options.json) writeFileSync(options.json, JSON.stringify(report, null, 2) + '\n');
