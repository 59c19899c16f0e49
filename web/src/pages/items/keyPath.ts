// Parses partition key paths, `/a/b` or `/"a b"/c`, reads values at a path, and builds JSON
// pointers for patches.

export function partsOf(path: string): string[] {
  const found: string[] = [];
  for (const [, quoted, plain] of path.matchAll(/\/(?:"((?:[^"\\]|\\.)*)"|([^/]*))/g)) {
    found.push(quoted ?? plain ?? '');
  }
  return found;
}

/** Returns the JSON pointer of a field. */
export function pointerOf(parts: readonly string[]): string {
  return parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Returns the value at a path; undefined if absent. */
export function valueAt(value: unknown, parts: readonly string[]): unknown {
  let found = value;
  for (const part of parts) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part))
      return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}
