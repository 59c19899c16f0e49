// What is offered at a place in a text: candidates and what they replace. Ranks them by what is typed
// already; knows no language.

export interface Candidate {
  label: string;
  kind: 'field' | 'value' | 'keyword' | 'function' | 'operator' | 'stage' | 'alias';
  /** Said beside the label: arguments, or the part of documents that have a field. */
  detail: string;
  insert: string;
  /** Where the cursor goes, from the beginning of what is inserted. */
  cursor: number;
}

export interface Completion {
  /** What is replaced. */
  from: number;
  to: number;
  candidates: Candidate[];
}

/** A field that documents of the sample have. */
export interface SampledField {
  parts: readonly string[];
  share: number;
  /** Of its types the most frequent. */
  kind: string;
  /** Texts, numbers and booleans that it has, the most frequent first, as they are printed. */
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

/** How well a label fits what is typed: 0 best; null: not at all. */
export function fitOf(label: string, typed: string): number | null {
  if (label.startsWith(typed)) return 0;
  const [name, wanted] = [label.toLowerCase(), typed.toLowerCase()];
  if (name.startsWith(wanted)) return 1;
  const bare = wanted.replace(/^\$/, '');
  if (bare === '') return wanted === '' || name.startsWith('$') ? 1 : null;
  // The beginning of a word within it: `Len` of `ARRAY_LENGTH`, `lookup` of `graphLookup`.
  const word = label.search(/[A-Z]/) >= 0 && /[a-z]/.test(label) ? /[A-Z]|[_.$]./g : /[_.$]./g;
  for (const { index, 0: found } of label.matchAll(word)) {
    const begin = /[_.$]/.test(found) ? index + 1 : index;
    if (name.startsWith(bare, begin)) return 2;
  }
  return name.includes(bare) && bare.length > 1 ? 3 : null;
}

/** Where the word ends in which the place is, or the text between quotes of this kind: what stands there
 * already is not written again. Where nothing is typed yet a word behind the place is another one. */
export function endOfWord(text: string, at: number, typed: string, quote: string): number {
  if (quote === '' && typed === '') return at;
  // A quote with a word behind it begins another text.
  const inside = quote === '"' ? /^[^"'\\\n]*(?="(?![\w$"']))/ : /^[^"'\\\n]*(?='(?![\w$"']))/;
  const rest = (quote === '' ? /^[\w$.]+/ : inside).exec(text.slice(at));
  return at + (rest?.[0].length ?? 0);
}

/** Values of a field, behind an opening quote if there is one: then texts alone, without their quotes. */
export function valuesOf(
  field: SampledField | undefined,
  quote: string,
  after: string,
): Candidate[] {
  return (field?.values ?? []).flatMap((text) => {
    if (quote === '') return [candidate('value', text)];
    const bare = text.slice(1, -1);
    // What would have to be escaped is left to who types.
    if (!text.startsWith('"') || /["'\\]/.test(bare)) return [];
    const insert = after.startsWith(quote) ? bare : bare + quote;
    return [candidate('value', bare, '', insert)];
  });
}

/** More than a person reads. */
const MOST = 50;

/** Those that fit, the best first; of those that fit alike, in the order they were given. */
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

/** The names below a path that the sample has, the most frequent first. */
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
