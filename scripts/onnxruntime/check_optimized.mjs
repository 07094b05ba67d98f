// Lets ONNX Runtime save models at its optimisation levels, runs what it saved with ephost, and compares the outputs;
// see scripts/check_optimized_models.sh.
//
//   node check_optimized.mjs BUILD_DIR MODELS_DIR CACHE_DIR [--levels LEVEL,...] [--ep NAME ...] [name ...]
//
// MODELS_DIR is what make_models.py wrote; CACHE_DIR keeps the npm package between runs.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compare } from './agreement.mjs';
import { VERSION, installRuntime, loadRuntime } from './runtime.mjs';
import { readTensor, readTensors, tensorFiles } from './tensors.mjs';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    levels: { type: 'string', default: 'basic,extended' },
    ep: { type: 'string', multiple: true, default: [] },
  },
});
if (positionals.length < 3) {
  console.error('usage: check_optimized.mjs BUILD_DIR MODELS_DIR CACHE_DIR [--levels LEVEL,...] [--ep NAME ...] [name ...]');
  process.exit(2);
}
const [build, modelsDir, cache] = positionals.slice(0, 3).map((path) => resolve(path));

/** Saves the model at a level, and returns what the session that saved it computes. */
async function saveAndRun(ort, model, level, saved, data) {
  const options = { graphOptimizationLevel: level, optimizedModelFilePath: saved, logSeverityLevel: 3, intraOpNumThreads: 2 };
  const session = await ort.InferenceSession.create(model, options);
  const inputs = readTensors(data, 'input_').map(({ name, type, data: elements, dims }) =>
    [name, new ort.Tensor(type, elements, dims)]);
  const outputs = await session.run(Object.fromEntries(inputs));
  await session.release();
  return outputs;
}

function runOurs(model, data, folder, names) {
  const args = ['run', model, '--quiet', ...flags.ep.flatMap((name) => ['--ep', name])];
  for (const file of tensorFiles(data, 'input_')) args.push('--input', `${readTensor(file).name}=${file}`);
  names.forEach((name, i) => args.push('--output', `${name}=${join(folder, `output_${i}.pb`)}`));
  try {
    execFileSync(join(build, 'bin/ephost'), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(error.stderr?.trim() || error.message, { cause: error });
  }
  return new Map(names.map((name, i) => [name, readTensor(join(folder, `output_${i}.pb`))]));
}

/** Verdicts of one model at one level, for its first data set. */
async function check(ort, folder, level) {
  const work = mkdtempSync(join(tmpdir(), 'ephost-optimized-'));
  // Beside the model, whose external data it refers to.
  const [model, saved] = [join(folder, 'model.onnx'), join(folder, `optimized_${process.pid}.onnx`)];
  try {
    const data = join(folder, 'test_data_set_0');
    const theirs = await saveAndRun(ort, model, level, saved, data);
    const bytes = readFileSync(model);
    // In products with 4-bit weights in DequantizeLinear, ONNX Runtime quantises the other factor too.
    const words = ['QuantizeLinear', 'DequantizeLinear', 'MatMulInteger'];
    const quantized = words.some((word) => bytes.includes(word));
    const ours = runOurs(saved, data, work, Object.keys(theirs));
    return Object.entries(theirs).map(([name, expected]) => ({ name, ...compare(ours.get(name), expected, quantized) }));
  } catch (error) {
    return [{ name: 'run', ok: false, text: error.message.split('\n').pop() }];
  } finally {
    rmSync(work, { recursive: true });
    rmSync(saved, { force: true });
  }
}

installRuntime(cache);
const ort = loadRuntime(cache);
const chosen = positionals.slice(3);
const names = chosen.length ? chosen : readdirSync(modelsDir).filter((name) => existsSync(join(modelsDir, name, 'model.onnx'))).sort();
let failed = 0;
for (const name of names) {
  for (const level of flags.levels.split(',')) {
    for (const verdict of await check(ort, join(modelsDir, name), level)) {
      if (!verdict.ok) failed++;
      console.log(`${verdict.ok ? 'ok  ' : 'FAIL'} ${name} ${level}: ${verdict.name}: ${verdict.text}`);
    }
  }
}
console.log(`${names.length} models saved by ONNX Runtime ${VERSION}: ${failed} outputs disagree`);
process.exitCode = failed || !names.length ? 1 : 0;
