// The most recent queries of each API with their outcomes, kept in the browser. Pure, and
// independent of the execution code, since the palette uses it too.

export type Outcome =
  /** Counts only the first page; more may follow. */
  | { kind: 'done'; rows: number; more: boolean; ms: number }
  /** `error` has one line. */
  | { kind: 'failed'; error: string; ms: number }
  | { kind: 'cancelled'; ms: number };

export interface Past {
  /** Browser time in ms. */
  at: number;
  /** "database › container". */
  place: string;
  /** Texts of the form by field. */
  texts: Record<string, string>;
  /** Absent while it runs, or if unknown. */
  outcome?: Outcome;
}

const KEPT = 50;
/** Longer texts are not kept: local storage is small. */
const KEPT_CHARACTERS = 20_000;

export function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, rows, more, error, ms } = value as Record<string, unknown>;
  if (typeof ms !== 'number') return false;
  if (kind === 'done') return typeof rows === 'number' && typeof more === 'boolean';
  return kind === 'failed' ? typeof error === 'string' : kind === 'cancelled';
}

export function isHistory(value: unknown): value is Past[] {
  return Array.isArray(value) && value.every(isPast);
}

function isPast(value: unknown): value is Past {
  if (typeof value !== 'object' || value === null) return false;
  const { at, place, texts, outcome } = value as Record<string, unknown>;
  if (typeof at !== 'number' || typeof place !== 'string') return false;
  if (outcome !== undefined && !isOutcome(outcome)) return false;
  if (typeof texts !== 'object' || texts === null) return false;
  return Object.values(texts).every((text) => typeof text === 'string');
}

function same(a: Past, b: Past): boolean {
  return a.place === b.place && JSON.stringify(a.texts) === JSON.stringify(b.texts);
}

/** Equal queries are merged into the newest if successful alike: a success hides no failure. */
function isAgain(one: Past, past: Past): boolean {
  return same(one, past) && one.outcome?.kind === past.outcome?.kind;
}

/** Returns the history with a started query at its head. */
export function remember(history: readonly Past[], past: Past): Past[] {
  const length = Object.values(past.texts).reduce((all, text) => all + text.length, 0);
  if (length > KEPT_CHARACTERS) return [...history];
  return [past, ...history.filter((one) => !isAgain(one, past))].slice(0, KEPT);
}

/** Returns the history with the outcome of a completed run. */
export function settled(history: readonly Past[], run: Past, outcome: Outcome): Past[] {
  const isRun = (one: Past) => one.at === run.at && same(one, run);
  if (!history.some(isRun)) return [...history];
  const ended = { ...run, outcome };
  return history
    .filter((one) => isRun(one) || !isAgain(one, ended))
    .map((one) => (isRun(one) ? ended : one));
}

export function isFailed({ outcome }: Past): boolean {
  return outcome?.kind === 'failed';
}

const SHOWN_CHARACTERS = 300;

/** Returns the nonempty texts on one line. */
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
