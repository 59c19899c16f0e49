// A field as the NoSQL language names it behind an alias.

/** Every name in brackets: there it may be a word of the language, such as `in`, or hold a dot. */
export function sqlPath(parts: readonly string[]): string {
  return parts.map((name) => `[${JSON.stringify(name)}]`).join('');
}
