// The current query as URL query parameters: `q`, and the options of a find. Pure.
import type { Door } from '../../../state/place';

/** Texts of a form by field. */
export type Texts = Readonly<Record<string, string>>;

/** Some proxies refuse longer URLs. */
export const LONGEST = 2000;

export const FIRST: Readonly<Record<Door, Texts>> = {
  nosql: { text: 'SELECT * FROM c' },
  mongo: {
    mode: 'filter',
    filter: '{}',
    projection: '',
    sort: '',
    limit: '',
    skip: '',
    pipeline: '[\n  { $match: {} }\n]',
  },
};

const OPTIONS = ['projection', 'sort', 'limit', 'skip'] as const;
export const PARTS = ['q', ...OPTIONS] as const;
type Parts = Record<string, string>;

/** Returns whether the form is in its initial state. */
export function isFirst(door: Door, texts: Texts): boolean {
  return Object.entries(FIRST[door]).every(([name, text]) => texts[name] === text);
}

function partsOf(door: Door, texts: Texts): Parts | null {
  if (door === 'nosql') return { q: texts.text ?? '' };
  if (texts.mode === 'pipeline') {
    // The bracket distinguishes a pipeline from a filter.
    return texts.pipeline?.trimStart().startsWith('[') === true ? { q: texts.pipeline } : null;
  }
  const options = OPTIONS.filter((name) => (texts[name] ?? '') !== '');
  const filter = texts.filter ?? '';
  if (filter.trimStart().startsWith('[')) return null;
  return { q: filter, ...Object.fromEntries(options.map((name) => [name, texts[name] ?? ''])) };
}

/** Returns whether the texts are a query but too long for a URL. */
export function isTooLong(door: Door, texts: Texts): boolean {
  const parts = Object.values(partsOf(door, texts) ?? {});
  return parts.reduce((all, part) => all + part.length, 0) > LONGEST;
}

/** Returns the query parameters; empty for the initial form; null: not expressible. */
export function addressOf(door: Door, texts: Texts): Parts | null {
  if (isFirst(door, texts)) return {};
  const parts = partsOf(door, texts);
  if (parts === null || isTooLong(door, texts)) return null;
  return parts.q?.trim() === '' ? {} : parts;
}

/** Returns the texts in a URL; null: none. */
export function textsOf(door: Door, query: URLSearchParams): Texts | null {
  const q = query.get('q');
  if (q === null || q === '') return null;
  if (door === 'nosql') return { text: q };
  if (q.trimStart().startsWith('[')) return { ...FIRST.mongo, mode: 'pipeline', pipeline: q };
  const options = OPTIONS.map((name) => [name, query.get(name) ?? '']);
  return { ...FIRST.mongo, filter: q, ...Object.fromEntries(options) };
}

/** Returns the query-related parameters as one string. */
export function signatureOf(query: URLSearchParams): string {
  return JSON.stringify(PARTS.map((name) => query.get(name) ?? ''));
}
