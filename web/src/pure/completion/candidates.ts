// Completion candidates at a position and the range that they replace. Ranks them by the typed
// prefix; independent of languages.

export interface Candidate {
  label: string;
  kind: 'field' | 'value' | 'keyword' | 'function' | 'operator' | 'stage' | 'alias';
  /** Shown beside the label: arguments, or the share of documents that have the field. */
  detail: string;
  insert: string;
  /** Cursor position relative to the start of the inserted text. */
  cursor: number;
}

export interface Completion {
  from: number;
  to: number;
  candidates: Candidate[];
}

/** A field that occurs in the sample. */
export interface SampledField {
  parts: readonly string[];
  share: number;
  /** Its most frequent type. */
  kind: string;
  /** Its strings, numbers and booleans as printed, most frequent first. */
  values?: readonly string[];
}

export function candidate(
  kind: Candidate['kind'],
  label: string,
  detail = '',
  insert = label,
  cursor = insert.length,
): Candidate {
  return { label, kind, detail, insert, cursor };
}

/** Ranks a label against the typed text: 0 is best; null: no match. */
export function fitOf(label: string, typed: string): number | null {
  if (label.startsWith(typed)) return 0;
  const [name, wanted] = [label.toLowerCase(), typed.toLowerCase()];
  if (name.startsWith(wanted)) return 1;
  const bare = wanted.replace(/^\$/, '');
  if (bare === '') return wanted === '' || name.startsWith('$') ? 1 : null;
  // The start of a word within it: `Len` of `ARRAY_LENGTH`, `lookup` of `graphLookup`.
  const word = label.search(/[A-Z]/) >= 0 && /[a-z]/.test(label) ? /[A-Z]|[_.$]./g : /[_.$]./g;
  for (const { index, 0: found } of label.matchAll(word)) {
    const begin = /[_.$]/.test(found) ? index + 1 : index;
    if (name.startsWith(bare, begin)) return 2;
  }
  return name.includes(bare) && bare.length > 1 ? 3 : null;
}

/**
 * Returns the end of the word, or of the quoted text, at the cursor, so that completion replaces
 * existing text. If nothing is typed, the following word is unrelated.
 */
export function endOfWord(text: string, at: number, typed: string, quote: string): number {
  if (quote === '' && typed === '') return at;
  // A quote followed by a word starts another string.
  const inside = quote === '"' ? /^[^"'\\\n]*(?="(?![\w$"']))/ : /^[^"'\\\n]*(?='(?![\w$"']))/;
  const rest = (quote === '' ? /^[\w$.]+/ : inside).exec(text.slice(at));
  return at + (rest?.[0].length ?? 0);
}

/** Returns candidate values of a field; after an opening quote only strings, unquoted. */
export function valuesOf(
  field: SampledField | undefined,
  quote: string,
  after: string,
): Candidate[] {
  return (field?.values ?? []).flatMap((text) => {
    if (quote === '') return [candidate('value', text)];
    const bare = text.slice(1, -1);
    // Strings that need escapes are not offered.
    if (!text.startsWith('"') || /["'\\]/.test(bare)) return [];
    const insert = after.startsWith(quote) ? bare : bare + quote;
    return [candidate('value', bare, '', insert)];
  });
}

const MOST = 50;

/** Returns matching candidates, best first; equal ranks keep their order. */
export function ranked(all: readonly Candidate[], typed: string): Candidate[] {
  const labels = new Set<string>();
  return all
    .filter(({ label }) => label !== '' && !labels.has(label) && labels.add(label))
    .map((one) => ({ one, rank: fitOf(one.label, typed) }))
    .filter(({ rank }) => rank !== null)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .slice(0, MOST)
    .map(({ one }) => one);
}

/** Returns the fields directly below a path, most frequent first. */
export function namesBelow(
  fields: readonly SampledField[],
  above: readonly string[],
): SampledField[] {
  return fields
    .filter(
      ({ parts }) =>
        parts.length === above.length + 1 && above.every((name, at) => name === parts[at]),
    )
    .sort((a, b) => b.share - a.share);
}

export function fieldDetail({ kind, share }: SampledField): string {
  return `${kind}, ${share > 0 && share < 0.01 ? '<1' : Math.round(share * 100)} %`;
}
