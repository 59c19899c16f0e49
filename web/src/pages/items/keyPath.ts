// Paths of partition keys, `/a/b` or `/"a b"/c`, what lies there, and paths as patches write them.

/** The names of a path. */
export function partsOf(path: string): string[] {
  const found: string[] = [];
  for (const [, quoted, plain] of path.matchAll(/\/(?:"((?:[^"\\]|\\.)*)"|([^/]*))/g)) {
    found.push(quoted ?? plain ?? '');
  }
  return found;
}

/** The way to a field as patches write it: a JSON pointer. */
export function pointerOf(parts: readonly string[]): string {
  return parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** What lies at a path; undefined: nothing. */
export function valueAt(value: unknown, parts: readonly string[]): unknown {
  let found = value;
  for (const part of parts) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part))
      return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}
