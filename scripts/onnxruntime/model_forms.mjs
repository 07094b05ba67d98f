// The models and forms that compare_models.mjs measures, and the files that each of them needs.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAKE_MODELS = fileURLToPath(new URL('../make_models.py', import.meta.url));

const PICTURES = { forms: ['float', 'int8', 'open', 'context'], inputs: { '': 0 } };

/** Each model with its forms, and the data sets of its inputs by what they stand for. */
export const MODELS = {
  resnet50: PICTURES,
  mobilenetv2: PICTURES,
  vgg19: PICTURES,
  inception_v2: PICTURES,
  shufflenet: PICTURES,
  squeezenet: PICTURES,
  densenet121: PICTURES,
  bert_base: { forms: ['float', 'int8', 'dynamic', 'open', 'context'], inputs: { '': 0 } },
  // Its extents are open in all forms.
  decoder: {
    forms: ['float', 'int8', 'dynamic', 'int4', 'context'],
    inputs: { step: 0, prompt: 1 },
  },
};

/** What make_models.py appends to the model's name. */
const SUFFIXES = { float: '', int8: '_qdq', dynamic: '_dynamic', int4: '_int4', open: '_open', context: '' };

export const FORMS = Object.keys(SUFFIXES);

/** Makes a model unless it is there, and returns its folder. */
export function folderOf(models, name, ...options) {
  const folder = join(models, name);
  if (!existsSync(join(folder, 'model.onnx'))) {
    const args = [MAKE_MODELS, models, name, '--no-outputs', ...options];
    execFileSync('/usr/bin/python3', args, { stdio: ['ignore', 2, 2] });
  }
  return folder;
}

/** The model in a form: the file for each side, and the conditions of each on `inputs`. */
export function prepare(sides, models, name, form, providers) {
  const folder = folderOf(models, name + SUFFIXES[form]);
  const model = join(folder, 'model.onnx');
  const conditions = { ours: { optimize: true, providers }, theirs: { optimize: true } };
  if (form !== 'context') return { folder, model: { ours: model, theirs: model }, conditions };
  // ONNX Runtime's CPU provider compiles nothing. What it can keep is the model after its optimisations.
  const prepared = join(models, 'prepared', name);
  mkdirSync(prepared, { recursive: true });
  const files = { ours: join(prepared, 'context.onnx'), theirs: join(prepared, 'optimized.onnx') };
  sides.compileOurs(model, files.ours, conditions.ours.providers);
  sides.optimizeTheirs(model, files.theirs);
  conditions.theirs.optimize = false;
  return { folder, model: files, conditions };
}
