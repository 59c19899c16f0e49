// Field access in the NoSQL language.

/** Brackets every name, since it may be a keyword such as `in` or contain a dot. */
export function sqlPath(parts: readonly string[]): string {
  return parts.map((name) => `[${JSON.stringify(name)}]`).join('');
}
