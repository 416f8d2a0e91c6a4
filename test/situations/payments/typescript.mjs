/* Lets a process of its own load what the tests load, compiled as they compile it. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import jest from '../../../jest.config.js';

const [, options] = Object.values(jest.projects[0].transform)[0];
const library = new URL('../../../libs/idempotency/src/index.ts', import.meta.url).href;

export function resolve(specifier, context, next) {
  if (specifier === 'nestjs-idempotency') return { url: library, format: 'module', shortCircuit: true };
  if (!specifier.startsWith('.') || !context.parentURL?.endsWith('.ts')) return next(specifier, context);
  return next(specifier.replace(/\.js$/, '.ts'), context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), { ...options, filename });
  return { format: 'module', source: code, shortCircuit: true };
}
