/* Lets a process of its own run an application of the tests on the library as it is built, or as it was: `data` is which. */
export { load } from '../situations/payments/typescript.mjs';

const previous = new URL('./previous/', import.meta.url).href;
const packages = new URL('../../libs/idempotency/package.json', import.meta.url).href;

let version;
export function initialize(data) {
  version = data;
}

export function resolve(specifier, context, next) {
  if (specifier === 'nestjs-idempotency' && version === 'previous') return next(`${previous}index.js`, context);
  const isRelative = specifier.startsWith('.');
  if (!isRelative && context.parentURL?.startsWith(previous))
    return next(specifier, { ...context, parentURL: packages });
  if (!isRelative || !context.parentURL?.endsWith('.ts')) return next(specifier, context);
  return next(specifier.replace(/\.js$/, '.ts'), context);
}
