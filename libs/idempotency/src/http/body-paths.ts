/** A JSON Pointer (RFC 6901), taken apart: the names on the way from the whole to the part it means. */
export type BodyPath = readonly string[];

/** The path of a JSON Pointer; null where it is none. */
export function bodyPath(pointer: string): BodyPath | null {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return null;
  const tokens = pointer.slice(1).split('/');
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The JSON Pointer of a path. */
export function pointerTo(path: BodyPath): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The part that a path leads to, in a box; null where there is none. */
export function partAt(whole: unknown, path: BodyPath): { readonly part: unknown } | null {
  let part = whole;
  for (const name of path) {
    if (!has(part, name)) return null;
    part = part[name];
  }
  return { part };
}

/** The whole without the parts that these paths lead to; undefined where nothing is left. The original stays as it is. */
export function without(whole: unknown, paths: readonly BodyPath[]): unknown {
  if (paths.some(isWhole)) return undefined;
  const inside = new Map<string, BodyPath[]>();
  for (const [name, ...rest] of paths) {
    if (has(whole, name!)) inside.set(name!, [...(inside.get(name!) ?? []), rest]);
  }
  if (inside.size === 0) return whole;
  const kept = Object.entries(whole as object).flatMap(([name, part]: [string, unknown]) => {
    const deeper = inside.get(name);
    if (deeper?.some(isWhole)) return [];
    return [[name, deeper ? without(part, deeper) : part] as const];
  });
  return Array.isArray(whole) ? kept.map(([, part]) => part) : Object.fromEntries(kept);
}

/** Own members and elements only: what an object or an array inherits, and an array's length, is no part of a body. */
function has(whole: unknown, name: string): whole is Record<string, unknown> {
  return typeof whole === 'object' && whole !== null && Object.prototype.propertyIsEnumerable.call(whole, name);
}

function isWhole(path: BodyPath): boolean {
  return path.length === 0;
}
