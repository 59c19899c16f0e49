// Paths of partition keys, `/a/b` or `/"a b"/c`, and what lies there.

/** The names of a path. */
export function partsOf(path: string): string[] {
  const found: string[] = [];
  for (const [, quoted, plain] of path.matchAll(/\/(?:"((?:[^"\\]|\\.)*)"|([^/]*))/g)) {
    found.push(quoted ?? plain ?? '');
  }
  return found;
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
