// Queries that were run, kept in the browser: the last ones of each door. Pure.

export interface Past {
  /** The browser's time, ms. */
  at: number;
  /** "database › container". */
  place: string;
  /** The texts of the form by field. */
  texts: Record<string, string>;
}

const KEPT = 50;
/** Longer ones are not kept: the browser's store is small. */
const KEPT_CHARACTERS = 20_000;

export function isHistory(value: unknown): value is Past[] {
  return Array.isArray(value) && value.every(isPast);
}

function isPast(value: unknown): value is Past {
  if (typeof value !== 'object' || value === null) return false;
  const { at, place, texts } = value as Record<string, unknown>;
  if (typeof at !== 'number' || typeof place !== 'string') return false;
  if (typeof texts !== 'object' || texts === null) return false;
  return Object.values(texts).every((text) => typeof text === 'string');
}

function same(a: Past, b: Past): boolean {
  return a.place === b.place && JSON.stringify(a.texts) === JSON.stringify(b.texts);
}

/** The history with a query at its head; the same one again only moves there. */
export function remember(history: readonly Past[], past: Past): Past[] {
  const length = Object.values(past.texts).reduce((all, text) => all + text.length, 0);
  if (length > KEPT_CHARACTERS) return [...history];
  return [past, ...history.filter((one) => !same(one, past))].slice(0, KEPT);
}

const SHOWN_CHARACTERS = 300;

/** The texts that say something, in one line. */
export function shown({ texts }: Pick<Past, 'texts'>): string {
  const { mode, ...fields } = texts;
  const named = Object.entries(fields).filter(([name, text]) => {
    if (text.trim() === '') return false;
    return mode === undefined || (mode === 'pipeline') === (name === 'pipeline');
  });
  const whole =
    named.length === 1
      ? (named[0]?.[1] ?? '')
      : named.map(([name, text]) => `${name}: ${text}`).join(' · ');
  const line = whole.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}
