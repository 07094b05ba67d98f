// ONNX Runtime as the npm package onnxruntime-node brings it.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

export const VERSION = '1.30.0';

const manifestIn = (cache) => join(resolve(cache), 'node_modules', 'onnxruntime-node', 'package.json');

/**
 * Installs the package into `cache` unless it is there. Its install script, which would fetch GPU
 * libraries, is not run: the CPU library is in the package.
 */
export function installRuntime(cache) {
  const manifest = manifestIn(cache);
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest)).version === VERSION) return;
  const wanted = `onnxruntime-node@${VERSION}`;
  const args = ['install', '--ignore-scripts', '--no-save', '--prefix', cache, wanted];
  execFileSync('npm', args, { stdio: ['ignore', 2, 2] });
}

/** Loads the package that installRuntime has put into `cache`. */
export function loadRuntime(cache) {
  return createRequire(manifestIn(cache))('onnxruntime-node');
}
