// Reads a text in chunks of random lengths, for tests.
import type { Found, ImportReader } from './found';

export function readAll<T>(
  reader: ImportReader<T>,
  text: string,
  length: () => number = () => 7,
): Found<T>[] {
  const found: Found<T>[] = [];
  for (let at = 0; at < text.length; ) {
    const next = at + Math.max(1, length());
    found.push(...reader.push(text.slice(at, next)));
    at = next;
  }
  return [...found, ...reader.end()];
}
