// Launches ephost and ONNX Runtime on the same model under the same conditions: a process for each
// session, one thread, optimisations off.

import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MEASURE = fileURLToPath(new URL('measure_session.mjs', import.meta.url));
const QUIET = { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'inherit'] };
const WITH_LOG = { ...QUIET, stdio: 'pipe' };
export const ONE_THREAD = { ...process.env, OMP_NUM_THREADS: '1' };

export const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

export class SideBySide {
  /** `build` holds ephost, `cache` ONNX Runtime. */
  constructor(build, cache) {
    this.ephost = join(build, 'bin/ephost');
    this.cache = cache;
  }

  /** One session and its runs with ephost: the report of `ephost bench`. */
  runOurs(model, runs, environment = ONE_THREAD) {
    const args = ['bench', model, '--sessions', '1', '--intra-op-threads', '1', '--warm-up', '0',
                  '--runs', String(runs), '--format', 'json', '--quiet'];
    return JSON.parse(execFileSync(this.ephost, args, { ...QUIET, env: environment }));
  }

  /** The same with ONNX Runtime: the report of measure_session.mjs. */
  runTheirs(model, runs, environment = ONE_THREAD) {
    const args = [MEASURE, this.cache, model, String(runs)];
    return JSON.parse(execFileSync(process.execPath, args, { ...QUIET, env: environment }));
  }

  /** What ONNX Runtime logs in the second run of a session. */
  theirLogOfSecondRun(model) {
    const args = [MEASURE, this.cache, model, '1', '--verbose'];
    const { stderr } = spawnSync(process.execPath, args, { ...WITH_LOG, env: ONE_THREAD });
    return stderr.slice(stderr.indexOf('first run ended'));
  }

  /** Medians over several launches, the two sides in turn. */
  measure(model, runs, sessions) {
    const samples = { ours: [], theirs: [] };
    for (let i = 0; i < sessions; i++) {
      const mine = this.runOurs(model, runs);
      samples.ours.push({
        session: mine.session.first_seconds,
        firstRun: mine.first_run_seconds,
        run: mine.run.median_seconds,
        resident: mine.peak_resident_bytes,
        planned: mine.planned_memory.reduce((sum, block) => sum + block.peak_bytes, 0),
      });
      const other = this.runTheirs(model, runs);
      samples.theirs.push({
        session: other.sessionSeconds,
        firstRun: other.firstRunSeconds,
        run: median(other.runSeconds),
        resident: other.peakResidentBytes,
      });
    }
    const medians = (all) =>
      Object.fromEntries(Object.keys(all[0]).map((key) => [key, median(all.map((sample) => sample[key]))]));
    return { ours: medians(samples.ours), theirs: medians(samples.theirs) };
  }
}
