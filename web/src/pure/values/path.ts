// Paths of fields as texts: names with dots between them. A dot or backslash that is part of a name has
// a backslash before it, so that every path names one field. Knows no query language.
import { isPlainObject } from './kind';

/** A path as text. */
export function pathText(parts: readonly string[]): string {
  return parts.map((part) => part.replace(/[\\.]/g, '\\$&')).join('.');
}

/** The names in a path's text. */
export function partsOfPath(text: string): string[] {
  const parts = [''];
  for (let at = 0; at < text.length; at += 1) {
    let unit = text.charAt(at);
    if (unit === '.') {
      parts.push('');
      continue;
    }
    if (unit === '\\' && at + 1 < text.length) {
      at += 1;
      unit = text.charAt(at);
    }
    parts[parts.length - 1] += unit;
  }
  return parts;
}

/** The value at a path, through objects alone; undefined: there is none. */
export function valueAtPath(document: unknown, parts: readonly string[]): unknown {
  let value = document;
  for (const part of parts) {
    if (!isPlainObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** Calls `visit` for each field of a document down to some level, an object before what it holds. */
export function eachField(
  document: unknown,
  levels: number,
  visit: (parts: readonly string[], value: unknown) => void,
  above: readonly string[] = [],
): void {
  if (!isPlainObject(document)) return;
  for (const [name, value] of Object.entries(document)) {
    if (value === undefined) continue;
    const parts = [...above, name];
    visit(parts, value);
    if (parts.length < levels) eachField(value, levels, visit, parts);
  }
}
