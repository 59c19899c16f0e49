// Protects against CSV injection: an apostrophe keeps a spreadsheet from executing a text as a
// formula, and is removed when the file is imported.

const GUARDED = /^'*[=+\-@\t\r]/;

/** Prefixes an apostrophe if a spreadsheet could execute the text. */
export function guarded(text: string): string {
  return GUARDED.test(text) ? `'${text}` : text;
}

/** Reverts `guarded`. */
export function unguarded(text: string): string {
  return text.startsWith("'") && GUARDED.test(text) ? text.slice(1) : text;
}
