// Texts that a spreadsheet would take for a formula and run: an apostrophe before them stops that, and
// is taken away again when the file is read. Says nothing of what a formula does.

const GUARDED = /^'*[=+\-@\t\r]/;

/** A text with an apostrophe before it if a spreadsheet could run it. */
export function guarded(text: string): string {
  return GUARDED.test(text) ? `'${text}` : text;
}

/** The text as it was before `guarded`. */
export function unguarded(text: string): string {
  return text.startsWith("'") && GUARDED.test(text) ? text.slice(1) : text;
}
