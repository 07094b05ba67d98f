// Measures whole models with ephost and ONNX Runtime; see scripts/bench_models_vs_onnxruntime.sh.
//
//   node compare_models.mjs BUILD_DIR MODELS_DIR CACHE_DIR [option ...]
//
// Makes the models that MODELS_DIR lacks. CACHE_DIR keeps the npm package between runs.

import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { FORMS, MODELS, folderOf, prepare } from './model_forms.mjs';
import { VERSION, installRuntime } from './runtime.mjs';
import { SideBySide } from './side_by_side.mjs';

const USAGE = `usage: compare_models.mjs BUILD_DIR MODELS_DIR CACHE_DIR [option ...]
  --models NAME,...    of ${Object.keys(MODELS).join(', ')}
  --forms FORM,...     of ${FORMS.join(', ')}
  --threads N,...      numbers of threads (1,2)
  --repetitions N      launches of each side (5)
  --runs N             runs after the first in each launch (20)
  --ep NAME            provider of ephost, repeatable (dnnl); the CPU provider is always last
  --json FILE          writes all numbers to a file`;

const QUANTITIES = { session: 'session', firstRun: 'first run', run: 'run', memory: 'memory', resident: 'process' };

function refuse(message) {
  console.error(`${message}\n${USAGE}`);
  process.exit(2);
}

/** The words of a flag, each of which has to be one of the known ones. */
function chosen(text, known, what) {
  if (text === undefined) return known;
  const words = text.split(',');
  for (const word of words) {
    if (!known.includes(word)) refuse(`there is no ${what} '${word}'`);
  }
  return known.filter((word) => words.includes(word));
}

function count(text, flag) {
  if (!/^[1-9]\d*$/.test(text)) refuse(`--${flag} ${text}: must be a number from 1 on`);
  return Number(text);
}

function readArguments() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        models: { type: 'string' },
        forms: { type: 'string' },
        threads: { type: 'string', default: '1,2' },
        repetitions: { type: 'string', default: '5' },
        runs: { type: 'string', default: '20' },
        ep: { type: 'string', multiple: true, default: [] },
        json: { type: 'string' },
      },
    });
  } catch (error) {
    refuse(error.message);
  }
  const { values: flags, positionals } = parsed;
  if (positionals.length !== 3) refuse('three folders are needed');
  const [build, models, cache] = positionals.map((path) => resolve(path));
  return {
    build, models, cache,
    names: chosen(flags.models, Object.keys(MODELS), 'model'),
    forms: chosen(flags.forms, FORMS, 'form'),
    threads: flags.threads.split(',').map((text) => count(text, 'threads')),
    repetitions: count(flags.repetitions, 'repetitions'),
    runs: count(flags.runs, 'runs'),
    providers: flags.ep.length ? flags.ep : ['dnnl'],
    json: flags.json,
  };
}

/** Every combination to measure. */
function* combinations({ names, forms, threads }) {
  for (const name of names) {
    for (const form of forms.filter((each) => MODELS[name].forms.includes(each))) {
      for (const [input, index] of Object.entries(MODELS[name].inputs)) {
        for (const number of threads) yield { name, form, input, index, threads: number };
      }
    }
  }
}

const ratioText = (value) => (Number.isFinite(value) && value > 0 ? value.toFixed(2) : '-');
const milliseconds = (seconds) => (seconds * 1e3).toFixed(seconds < 0.01 ? 2 : 1);

function printLine(what, threads, cells) {
  console.log([what.padEnd(30), threads.padStart(7), ...cells.map((cell) => cell.padStart(10))].join(' '));
}

const HEADINGS = [...Object.values(QUANTITIES), 'run ms', 'ORT ms'];

/** What both sides take, memory above that of the smallest model, and the ratios, ours to theirs. */
function evaluate({ ours, theirs, samples }, baseline) {
  const side = (medians, least) => ({ ...medians, memory: medians.resident - least.resident });
  const [ephost, onnxruntime] = [side(ours, baseline.ours), side(theirs, baseline.theirs)];
  const ratio = Object.fromEntries(Object.keys(QUANTITIES).map((key) => [key, ephost[key] / onnxruntime[key]]));
  return { ephost, onnxruntime, ratio, samples };
}

function measureAll(options, sides, report) {
  const { models, repetitions, runs, providers } = options;
  const smallest = join(folderOf(models, 'chain', '-n', '2'), 'model.onnx');
  const baselines = new Map();
  const prepared = new Map(); // models in a form, by name and form
  for (const { name, form, input, index, threads } of combinations(options)) {
    const label = [name, form, input].filter(Boolean).join(' ');
    const row = { model: name, form, input, threads };
    report.rows.push(row);
    try {
      if (!baselines.has(threads)) {
        baselines.set(threads, sides.measure(smallest, 1, repetitions, { threads, optimize: true, providers }));
      }
      const key = `${name} ${form}`;
      if (!prepared.has(key)) prepared.set(key, prepare(sides, models, name, form, providers));
      const { folder, model, conditions } = prepared.get(key);
      const common = { threads, inputs: join(folder, `test_data_set_${index}`) };
      const both = { ours: { ...conditions.ours, ...common }, theirs: { ...conditions.theirs, ...common } };
      Object.assign(row, evaluate(sides.measure(model, runs, repetitions, both), baselines.get(threads)));
      printLine(label, String(threads), [...Object.keys(QUANTITIES).map((each) => ratioText(row.ratio[each])),
                                         milliseconds(row.ephost.run), milliseconds(row.onnxruntime.run)]);
    } catch (error) {
      row.error = error.message;
      printLine(label, String(threads), []);
      console.log(`  not measured: ${error.message.split('\n').pop()}`);
    }
  }
}

/** The geometric means of the ratios, for each form and number of threads. */
function printMeans({ rows }, { forms, threads }) {
  const mean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
  for (const form of forms) {
    for (const number of threads) {
      const measured = rows.filter((row) => row.form === form && row.threads === number && row.ratio);
      if (!measured.length) continue;
      const means = Object.keys(QUANTITIES).map((key) =>
        ratioText(mean(measured.map((row) => row.ratio[key]).filter((value) => value > 0))));
      printLine(`geometric mean, ${form}`, String(number), means);
    }
  }
}

const options = readArguments();
installRuntime(options.cache);
const sides = new SideBySide(options.build, options.cache);
const { repetitions, runs, providers } = options;
const report = { onnxruntime: VERSION, repetitions, runs, providers, rows: [] };
printLine(`ephost to ONNX Runtime ${VERSION}`, 'threads', HEADINGS);
measureAll(options, sides, report);
printMeans(report, options);
if (options.json) writeFileSync(options.json, JSON.stringify(report, null, 2) + '\n');
process.exitCode = report.rows.some((row) => row.error) ? 1 : 0;
