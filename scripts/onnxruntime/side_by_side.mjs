// Launches ephost and ONNX Runtime on the same model under the same conditions: a process for each session.

import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTensor, tensorFiles } from './tensors.mjs';

const MEASURE = fileURLToPath(new URL('measure_session.mjs', import.meta.url));
const QUIET = { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] };
const WITH_LOG = { ...QUIET, stdio: 'pipe' };

export const withThreads = (threads) => ({ ...process.env, OMP_NUM_THREADS: String(threads) });
export const ONE_THREAD = withThreads(1);

/** How both sides run a model, unless a caller says otherwise. */
const CONDITIONS = {
  threads: 1,
  optimize: false, // all optimisations, or none
  inputs: undefined, // a folder of input_*.pb, or undefined for random inputs
  providers: [], // of ephost; the CPU provider is always last
};

export const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

/** Runs a program and returns what it prints; an error has what it wrote to standard error. */
function output(program, args, environment) {
  try {
    return execFileSync(program, args, { ...QUIET, env: environment });
  } catch (error) {
    throw new Error(error.stderr?.trim() || error.message, { cause: error });
  }
}

export class SideBySide {
  /** `build` holds ephost, `cache` ONNX Runtime. */
  constructor(build, cache) {
    this.ephost = join(build, 'bin/ephost');
    this.cache = cache;
  }

  /** One session and its runs with ephost: the report of `ephost bench`. */
  runOurs(model, runs, conditions = {}, environment = undefined) {
    const { threads, optimize, inputs, providers } = { ...CONDITIONS, ...conditions };
    const args = ['bench', model, '--sessions', '1', '--intra-op-threads', String(threads), '--warm-up', '0',
                  '--runs', String(runs), '--format', 'json', '--quiet',
                  ...(optimize ? [] : ['--optimization-level', 'disable_all']),
                  ...providers.flatMap((name) => ['--ep', name])];
    for (const file of inputs ? tensorFiles(inputs, 'input_') : []) {
      args.push('--input', `${readTensor(file).name}=${file}`);
    }
    return JSON.parse(output(this.ephost, args, environment ?? withThreads(threads)));
  }

  /** The same with ONNX Runtime: the report of measure_session.mjs. */
  runTheirs(model, runs, conditions = {}, environment = undefined) {
    const { threads, optimize, inputs } = { ...CONDITIONS, ...conditions };
    const args = [MEASURE, this.cache, model, String(runs), '--threads', String(threads),
                  ...(optimize ? ['--optimize'] : []), ...(inputs ? ['--inputs', inputs] : [])];
    return JSON.parse(output(process.execPath, args, environment ?? withThreads(threads)));
  }

  /** Writes a context model with ephost. */
  compileOurs(model, file, providers) {
    output(this.ephost, ['compile', model, '--output', file, '--force', '--error-if-nothing-compiled', '--quiet',
                         ...providers.flatMap((name) => ['--ep', name])], process.env);
  }

  /** Writes the model as ONNX Runtime optimises it. */
  optimizeTheirs(model, file) {
    output(process.execPath, [MEASURE, this.cache, model, '0', '--optimize', '--save', file], ONE_THREAD);
  }

  /** What ONNX Runtime logs in the second run of a session. */
  theirLogOfSecondRun(model) {
    const args = [MEASURE, this.cache, model, '1', '--verbose'];
    const { stderr } = spawnSync(process.execPath, args, { ...WITH_LOG, env: ONE_THREAD });
    return stderr.slice(stderr.indexOf('first run ended'));
  }

  /** One launch of ephost as numbers. */
  sampleOfOurs(model, runs, conditions) {
    const report = this.runOurs(model, runs, conditions);
    return {
      session: report.session.first_seconds,
      firstRun: report.first_run_seconds,
      run: report.run.median_seconds,
      resident: report.peak_resident_bytes,
      planned: report.planned_memory.reduce((sum, block) => sum + block.peak_bytes, 0),
    };
  }

  /** One launch of ONNX Runtime as numbers. */
  sampleOfTheirs(model, runs, conditions) {
    const report = this.runTheirs(model, runs, conditions);
    return {
      session: report.sessionSeconds,
      firstRun: report.firstRunSeconds,
      run: median(report.runSeconds),
      resident: report.peakResidentBytes,
    };
  }

  /**
   * Medians over several launches of both sides in turn, the other side first each time. `model` is one file, or
   * { ours, theirs }, and so are the conditions. The samples themselves are in `samples`.
   */
  measure(model, runs, sessions, conditions = {}) {
    const models = typeof model === 'string' ? { ours: model, theirs: model } : model;
    const of = 'ours' in conditions ? conditions : { ours: conditions, theirs: conditions };
    const samples = { ours: [], theirs: [] };
    const launch = {
      ours: () => samples.ours.push(this.sampleOfOurs(models.ours, runs, of.ours)),
      theirs: () => samples.theirs.push(this.sampleOfTheirs(models.theirs, runs, of.theirs)),
    };
    for (let i = 0; i < sessions; i++) {
      for (const side of i % 2 ? ['theirs', 'ours'] : ['ours', 'theirs']) launch[side]();
    }
    const medians = (all) =>
      Object.fromEntries(Object.keys(all[0]).map((key) => [key, median(all.map((sample) => sample[key]))]));
    return { ours: medians(samples.ours), theirs: medians(samples.theirs), samples };
  }
}
