// A new index: input, validation, and specification. Pure; the server validates again.
import { Int32 } from 'bson';
import type { Document } from '../../../api/mongo';
import { parseShell } from '../../../pure/shell';
import { NO_SECONDS, readSeconds, type SecondsTyped } from '../../../pure/ttl/input';
import { isPlainObject } from '../../../pure/values/kind';
import type { Rule } from './useDue';

export interface IndexField {
  path: string;
  order: 1 | -1;
}

export interface IndexDraft {
  fields: readonly IndexField[];
  /** Empty: derived from the fields. */
  name: string;
  unique: boolean;
  sparse: boolean;
  hidden: boolean;
  /** Filter in shell syntax; empty: none. */
  filter: string;
  expires: boolean;
  seconds: SecondsTyped;
}

export const NEW_INDEX: IndexDraft = {
  fields: [{ path: '', order: 1 }],
  name: '',
  unique: false,
  sparse: false,
  hidden: false,
  filter: '',
  expires: false,
  seconds: NO_SECONDS,
};

export interface Problems {
  fields?: string;
  filter?: string;
  expires?: string;
}

export type ReadIndex = { index: Document } | { problems: Problems };

/** Returns MongoDB's default name of an index on these fields. */
export function nameOf(fields: readonly IndexField[]): string {
  const named = fields.filter(({ path }) => path.trim() !== '');
  return named.map(({ path, order }) => `${path.trim()}_${order}`).join('_');
}

function fieldsProblem(fields: readonly IndexField[]): string | null {
  const paths = fields.map(({ path }) => path.trim());
  if (paths.some((path) => path === '')) return 'Enter the name of each field.';
  const twice = paths.find((path, at) => paths.indexOf(path) < at);
  if (twice !== undefined) return `The field “${twice}” occurs twice.`;
  if (paths.length > 1) return null;
  if (paths[0] === '_id') return 'The index on “_id” always exists.';
  return paths[0] === '_ts'
    ? '“_ts” is for the default of the collection: set it under Time to live.'
    : null;
}

function readFilter(text: string): { value: Document | null } | { error: string } {
  if (text.trim() === '') return { value: null };
  const parsed = parseShell(text);
  if ('error' in parsed) return { error: `At character ${parsed.at + 1}: ${parsed.error}` };
  return isPlainObject(parsed.value)
    ? { value: parsed.value }
    : { error: 'A filter must be an object like { status: "open" }.' };
}

export function readIndex(draft: IndexDraft): ReadIndex {
  const problems: Problems = {};
  const wrong = fieldsProblem(draft.fields);
  if (wrong !== null) problems.fields = wrong;
  const filter = readFilter(draft.filter);
  if ('error' in filter) problems.filter = filter.error;
  const seconds = readSeconds(draft.seconds.text, draft.seconds.unit, 0);
  if (draft.expires && draft.fields.length > 1) {
    problems.expires = 'An index that expires documents has one field.';
  } else if (draft.expires && 'error' in seconds) problems.expires = seconds.error;
  if (Object.keys(problems).length > 0) return { problems };
  const fields = draft.fields.map(({ path, order }) => ({ path: path.trim(), order }));
  const index: Document = {
    key: Object.fromEntries(fields.map(({ path, order }) => [path, new Int32(order)])),
    name: draft.name.trim() === '' ? nameOf(fields) : draft.name.trim(),
  };
  for (const trait of ['unique', 'sparse', 'hidden'] as const) {
    if (draft[trait]) index[trait] = true;
  }
  if ('value' in filter && filter.value !== null) index.partialFilterExpression = filter.value;
  if (draft.expires && 'value' in seconds) index.expireAfterSeconds = new Int32(seconds.value);
  return { index };
}

/** Returns the TTL rule of a new index; null: not a TTL index. */
export function ruleOf(index: Document): Rule | null {
  const [field] = Object.keys(index.key as Document);
  const seconds = index.expireAfterSeconds as Int32 | undefined;
  if (seconds === undefined || field === undefined) return null;
  const filter = (index.partialFilterExpression ?? null) as Document | null;
  return { field, seconds: seconds.value, filter };
}

/** Moves an entry one position up. */
export function movedUp<T>(list: readonly T[], at: number): T[] {
  const [before, one] = [list[at - 1], list[at]];
  if (before === undefined || one === undefined) return [...list];
  return list.with(at - 1, one).with(at, before);
}
